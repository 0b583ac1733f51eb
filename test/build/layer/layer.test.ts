import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type LayerEntry, makeLayer, makeLayerFile } from "../../../src/build/layer/index.ts";
import { digestOf } from "../../../src/registry/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);
const text = (content: string) => new TextEncoder().encode(content);

it("tar unpacks a layer to its files, modes and links", async () => {
  const layer = await makeLayer([
    { path: "sless/image/source/handler.py", content: text("print(1)") },
    { path: "sless/image/source/run.sh", content: text("#!/bin/sh"), executable: true },
    { path: "sless/image/source/link", target: "handler.py" },
    { path: `sless/image/source/${"long/".repeat(40)}ünï-名前.txt`, content: text("far down") },
    { path: "sless/image/deps", folder: true },
  ]);
  const folder = await temporaryFolder();
  await writeFile(join(folder, "layer.tgz"), layer.bytes);
  await mkdir(join(folder, "out"));
  await run("tar", ["-xzf", join(folder, "layer.tgz"), "-C", join(folder, "out")]);
  const source = join(folder, "out/sless/image/source");
  expect(await readFile(join(source, "handler.py"), "utf8")).toBe("print(1)");
  expect(await readFile(join(source, "long/".repeat(40), "ünï-名前.txt"), "utf8")).toBe("far down");
  expect(await readlink(join(source, "link"))).toBe("handler.py");
  expect((await stat(join(source, "run.sh"))).mode & 0o777).toBe(0o755);
  expect((await stat(join(source, "handler.py"))).mode & 0o777).toBe(0o644);
  expect((await stat(join(folder, "out/sless/image/deps"))).isDirectory()).toBe(true);
});

it("the digests are those of the tar and of its gzipped bytes", async () => {
  const { diffId, digest, bytes } = await makeLayer([{ path: "a/b", content: text("x") }]);
  const sha256 = (of: Uint8Array) => `sha256:${createHash("sha256").update(of).digest("hex")}`;
  expect(digest).toBe(sha256(bytes));
  expect(diffId).toBe(sha256(gunzipSync(bytes)));
});

it("a layer in a file is the one in memory, and can be sent from any byte on", async () => {
  const large = randomBytes(700_000);
  async function* stream() {
    for (let at = 0; at < large.length; at += 50_000) yield large.subarray(at, at + 50_000);
  }
  async function* none() {}
  const streamed: LayerEntry[] = [
    { path: "a/large", size: large.length, stream, executable: true },
    { path: "a/empty", size: 0, stream: none },
    { path: "a/link", target: "large" },
    { path: "b", content: text("x") },
  ];
  const inMemory: LayerEntry[] = [
    { path: "a/large", content: large, executable: true },
    { path: "a/empty", content: text("") },
    ...streamed.slice(2),
  ];
  const path = join(await temporaryFolder(), "layer");
  const file = await makeLayerFile(streamed, path);
  const layers = [await makeLayer(streamed), await makeLayer(inMemory)];
  expect(layers.map(({ diffId }) => diffId)).toEqual([file.diffId, file.diffId]);
  const packed = await buffer(file.read(0));
  expect([packed.length, digestOf(packed)]).toEqual([file.size, file.digest]);
  expect(Buffer.compare(gunzipSync(packed), gunzipSync(layers[0]!.bytes))).toBe(0);
  expect(Buffer.compare(await buffer(file.read(1000)), packed.subarray(1000))).toBe(0);
  expect(await buffer(file.read(file.size))).toHaveLength(0);
});

it("a file that cannot be read, or is not as long as it was said, makes no layer", async () => {
  async function* failing() {
    yield text("half");
    throw new Error("gone");
  }
  async function* short() {
    yield text("half");
  }
  const folder = await temporaryFolder();
  for (const [name, stream, message] of [
    ["failing", failing, /gone/],
    ["short", short, /Size mismatch/],
  ] as const) {
    const entries: LayerEntry[] = [
      { path: "a", size: 1_000_000, stream },
      { path: "b", content: text("x") },
    ];
    await expect(makeLayer(entries)).rejects.toThrow(message);
    await expect(makeLayerFile(entries, join(folder, name))).rejects.toThrow(message);
  }
});

it("the same files give the same layer in whatever order they come", async () => {
  const part = fc.stringMatching(/^[a-z0-9é名]{1,8}$/);
  const files = fc.uniqueArray(
    fc.record({ path: fc.tuple(part, part, part), content: fc.uint8Array({ maxLength: 50 }) }),
    {
      selector: ({ path }) => path.join("/"),
      maxLength: 12,
    },
  );
  await fc.assert(
    fc.asyncProperty(files, fc.infiniteStream(fc.nat()), async (given, order) => {
      const entries: LayerEntry[] = given.map(({ path, content }) => ({ path: `f/${path.join("/")}.x`, content }));
      const shuffled = [...entries].map((entry) => ({ entry, at: order.next().value })).sort((a, b) => a.at - b.at);
      const layers = await Promise.all([makeLayer(entries), makeLayer(shuffled.map(({ entry }) => entry))]);
      expect(layers[0].diffId).toBe(layers[1].diffId);
    }),
    { numRuns: 40 },
  );
});

it("another content, mode or name is another layer", async () => {
  const variants: LayerEntry[] = [
    { path: "a", content: text("1") },
    { path: "a", content: text("2") },
    { path: "b", content: text("1") },
    { path: "a", content: text("1"), executable: true },
    { path: "a", target: "1" },
    { path: "a", folder: true },
  ];
  const ids = await Promise.all(variants.map(async (entry) => (await makeLayer([entry])).diffId));
  expect(new Set(ids).size).toBe(variants.length);
});
