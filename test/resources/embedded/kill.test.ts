import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObjectOf } from "../../../src/apis/index.ts";
import { openEmbeddedStore } from "../../../src/resources/embedded/index.ts";
import { functionIntent } from "../../support/function-intent.ts";
import { testSeed } from "../../support/seed.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { watchChild } from "../../support/watched-child.ts";

const WRITER = fileURLToPath(new URL("writing-process.ts", import.meta.url));
const KILLS = 6;

describe("a process that is killed while it writes", () => {
  it("leaves every acknowledged write and no half one", async () => {
    const seed = testSeed();
    const kills = fc.sample(fc.noBias(fc.integer({ min: 1, max: 300 })), { numRuns: KILLS, seed });
    console.info(`kill test: seed ${seed}, after ${kills.join(", ")} writes`);
    const file = join(await temporaryFolder(), "resources.db");
    const acknowledged = new Map<string, number>();
    let version = 0;
    for (const writes of kills) {
      await writeUntilKilled(file, writes, acknowledged);
      version = await checkFile(file, acknowledged, version);
    }
  });
});

/** Lets the writer acknowledge so many writes, kills it in the middle of whatever it does then, and hears it out. */
async function writeUntilKilled(file: string, writes: number, acknowledged: Map<string, number>): Promise<void> {
  const writer = spawn(process.execPath, [WRITER, file]);
  const { closed } = watchChild(writer);
  let heard = 0;
  for await (const line of createInterface({ input: writer.stdout })) {
    const [name, number] = line.split(" ");
    acknowledged.set(name!, Number(number));
    heard += 1;
    if (heard === writes) writer.kill("SIGKILL");
  }
  expect(await closed()).toMatchObject({ signal: "SIGKILL" });
}

async function checkFile(file: string, acknowledged: Map<string, number>, before: number): Promise<number> {
  const store = await openEmbeddedStore(file);
  const { items, resourceVersion } = await store.list("Function");
  for (const [name, number] of acknowledged) {
    const kept = Number((await store.get("Function", { namespace: "demo", name }))?.spec.env?.NUMBER);
    expect(kept).toBeGreaterThanOrEqual(number);
  }
  for (const object of items) expect(object).toEqual(wholeObject(object));
  const last = Math.max(before, ...items.map(({ metadata }) => Number(metadata.resourceVersion)));
  expect(Number(resourceVersion)).toBeGreaterThanOrEqual(last);
  // The owners of the fields are from the same write as the fields: without the fields, nothing of them stays.
  const cleared = await store.apply(functionIntent("demo", "f0"), { owner: "sync" });
  expect(cleared.spec).not.toHaveProperty("env");
  expect(cleared.metadata).not.toHaveProperty("annotations");
  expect(Number(cleared.metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
  await store.delete("Function", cleared.metadata);
  acknowledged.delete("f0");
  await store.close();
  return Number(cleared.metadata.resourceVersion);
}

/** What the writer makes of an object with this number. */
function wholeObject(object: ObjectOf<"Function">): unknown {
  const number = Number(object.spec.env?.NUMBER);
  const env = { NUMBER: String(number), TEXT: "x".repeat(number % 3000), ...(number % 2 === 0 && { EVEN: "yes" }) };
  const metadata = { ...object.metadata, annotations: { "example.com/number": String(number) } };
  return { ...object, metadata, spec: { ...object.spec, env } };
}

describe("a disk without space", () => {
  it("fails the writes, keeps what was written, and takes writes again when there is space", async () => {
    const file = join(await temporaryFolder(), "resources.db");
    const limited = `ulimit -S -f 600 && exec "$0" "$@"`;
    const writer = spawn("bash", ["-c", limited, process.execPath, WRITER, file]);
    const { closed } = watchChild(writer);
    const lines = createInterface({ input: writer.stdout })[Symbol.asyncIterator]();
    const acknowledged = await readUntilFailed(lines);
    expect(acknowledged.code).toBe("storage_unavailable");
    // A write of the same moment may have been kept and not heard of yet.
    expect(acknowledged.kept).toBeGreaterThanOrEqual(acknowledged.f0);
    await liftLimit(writer);
    writer.stdin.write("\n");
    for (let next = 0; !(next > acknowledged.kept); ) next = Number((await nextLine(lines)).split(" ")[1]);
    writer.kill("SIGKILL");
    await closed();
    await checkFile(file, new Map(), 0);
  });
});

async function readUntilFailed(lines: AsyncIterator<string>): Promise<{ code: string; kept: number; f0: number }> {
  let f0 = 0;
  for (;;) {
    const [name, number, kept] = (await nextLine(lines)).split(" ");
    if (name === "failed") return { code: number!, kept: Number(kept), f0 };
    if (name === "f0") f0 = Number(number);
  }
}

async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new Error("the writer ended");
  return value;
}

async function liftLimit(writer: ChildProcessWithoutNullStreams): Promise<void> {
  const { closed } = watchChild(spawn("prlimit", ["--pid", String(writer.pid), "--fsize=unlimited"]));
  expect(await closed()).toMatchObject({ code: 0 });
}
