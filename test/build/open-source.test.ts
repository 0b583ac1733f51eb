import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { openSource, type SourceDeps } from "../../src/build/open-source.ts";
import { type ArchiveFile, packArchive } from "../../src/source/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { digestOf } from "../contract/builder.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const KEY = "functions/demo/hello/1.zip";
const file = (path: string, content: Uint8Array): ArchiveFile => ({ path, mode: "100644", content });
const FILES = [file("handler.py", Buffer.from("print()")), file("noise", randomBytes(200_000))];
const REQUEST = { sourceKey: KEY, sourceDigest: digestOf(FILES) };
const NEVER = new AbortController().signal;

async function open(stored: Uint8Array | undefined, more: Partial<SourceDeps> = {}, signal = NEVER) {
  const objects: Pick<ObjectStore, "read" | "put"> = memoryObjectStore();
  if (stored) await objects.put(KEY, stored);
  const temporary = await temporaryFolder();
  return { temporary, opened: openSource(REQUEST, { objects, limits: {}, temporary, ...more }, signal) };
}

it("a source is opened when it is what its key names", async () => {
  const { opened } = await open(await packArchive(FILES));
  const { files, close } = await opened;
  expect(files.map(({ path }) => path)).toEqual(["handler.py", "noise"]);
  await close();
});

it.each<[string, () => Promise<Uint8Array | undefined>, string, RegExp]>([
  ["vanished", async () => undefined, "source_unavailable", /1\.zip cannot be read: it is not there.*sless reconcile/],
  [
    "holds other files than it names",
    () => packArchive([file("handler.py", Buffer.from("other"))]),
    "source_unavailable",
    /1\.zip .*damaged \(its files are not those that its name stands for\)\. Run `sless reconcile`/,
  ],
  [
    "lacks its end",
    async () => (await packArchive(FILES)).subarray(0, 150_000),
    "source_unavailable",
    /1\.zip .*damaged \(it is no zip file .*\)\. /,
  ],
  [
    "has another byte",
    async () => (await packArchive(FILES)).map((byte, at) => (at === 100_000 ? byte ^ 1 : byte)),
    "source_unavailable",
    /1\.zip .*damaged \("noise" is damaged/,
  ],
])("an archive that %s is told, and nothing of it is used", async (_, stored, code, message) => {
  const { temporary, opened } = await open(await stored());
  await expect(opened).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(await readdir(temporary)).toEqual([]);
});

/** A store whose bytes come, and then no more come until somebody aborts. */
function stalling(then: () => void): Pick<ObjectStore, "read"> {
  async function* body(signal: AbortSignal | undefined) {
    yield Buffer.from("PK");
    then();
    signal?.throwIfAborted();
    await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
  }
  return { read: async (_key, { signal } = {}) => ({ bytes: 1000, body: body(signal) }) };
}

it("an archive that trickles in for ever is given up", async () => {
  const { temporary, opened } = await open(undefined, { objects: stalling(() => undefined), receiveMaxMs: 50 });
  await expect(opened).rejects.toMatchObject({
    code: "source_unavailable",
    message: expect.stringContaining("it did not come in 50 ms"),
  });
  expect(await readdir(temporary)).toEqual([]);
});

it("whoever ends a build ends the reading of its source", async () => {
  const stop = new AbortController();
  const objects = stalling(() => stop.abort(new Error("superseded")));
  const { temporary, opened } = await open(undefined, { objects }, stop.signal);
  await expect(opened).rejects.toThrow("superseded");
  expect(await readdir(temporary)).toEqual([]);
});

it("where the disk refuses, the connection of the body that nobody reads is given back", async () => {
  let told: AbortSignal | undefined;
  const objects: Pick<ObjectStore, "read"> = {
    async read(_key, { signal } = {}) {
      told = signal;
      return { bytes: 1000, body: Readable.from([Buffer.from("PK")]) };
    },
  };
  const temporary = join(await temporaryFolder(), "gone");
  const { opened } = await open(undefined, { objects, temporary });
  await expect(opened).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(told?.aborted).toBe(true);
});
