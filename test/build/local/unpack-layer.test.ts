import { existsSync, lstatSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { type Header, pack } from "tar-stream";
import { expect, it } from "vitest";
import { makeLayer } from "../../../src/build/layer/index.ts";
import { unpackBudget, unpackLayer } from "../../../src/build/local/unpack-layer.ts";
import { MEDIA_TYPES } from "../../../src/registry/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

type Member = Partial<Header> & { readonly name: string } & { readonly text?: string };

/** A layer as somebody else may have written it. */
async function layerOf(members: readonly Member[]): Promise<Uint8Array> {
  const archive = pack();
  for (const { text = "", ...header } of members) archive.entry(header, text);
  archive.finalize();
  return gzipSync(await buffer(archive));
}

interface Unpacking {
  readonly folder: string;
  /** Of the folder's parent: what must not be there afterwards, and what must be left. */
  readonly outside: string;
}

async function newFolder(): Promise<Unpacking> {
  const outside = await temporaryFolder();
  const folder = join(outside, "image");
  await mkdir(folder);
  await writeFile(join(outside, "kept"), "kept");
  return { folder, outside };
}

async function unpack(members: readonly Member[], { folder }: Unpacking, budget = unpackBudget()): Promise<void> {
  await unpackLayer({ mediaType: MEDIA_TYPES.ociLayer, bytes: await layerOf(members) }, folder, budget);
}

it("what stands below /sless is put into the folder, and nothing else of the image", async () => {
  const at = await newFolder();
  const { bytes } = await makeLayer([
    { path: "etc/passwd", content: Buffer.from("root") },
    { path: "sless/image/source/handler.py", content: Buffer.from("code") },
    { path: "sless/image/source/run.sh", content: Buffer.from("#!"), executable: true },
    { path: "sless/image/node_modules", target: "deps/node_modules" },
    { path: "sless/image/deps", folder: true },
  ]);
  await unpackLayer({ mediaType: MEDIA_TYPES.dockerLayer, bytes }, at.folder, unpackBudget());
  expect(await readdir(at.folder)).toEqual(["sless"]);
  const image = join(at.folder, "sless/image");
  expect(await readFile(join(image, "source/handler.py"), "utf8")).toBe("code");
  expect((await stat(join(image, "source/run.sh"))).mode & 0o111).toBe(0o111);
  expect((await stat(join(image, "source/handler.py"))).mode & 0o111).toBe(0);
  expect(await readlink(join(image, "node_modules"))).toBe("deps/node_modules");
});

it("a later layer replaces, and removes what it says is gone", async () => {
  const at = await newFolder();
  await unpack(
    [
      { name: "sless/a/one", text: "1" },
      { name: "./sless/a/two", text: "2" },
      { name: "sless/b/three", text: "3" },
      { name: "sless/c", text: "file" },
      { name: "sless/d", type: "symlink", linkname: "a" },
      { name: "sless/e/four", text: "4" },
    ],
    at,
  );
  await unpack(
    [
      { name: "sless/a/one", text: "new" },
      { name: "sless/a/.wh.two" },
      { name: "sless/b/.wh..wh..opq" },
      { name: "sless/b/five", text: "5" },
      { name: "sless/c", type: "directory" },
      { name: "sless/d", text: "no link" },
      { name: "sless/e", text: "file" },
    ],
    at,
  );
  expect(await readFile(join(at.folder, "sless/a/one"), "utf8")).toBe("new");
  expect(await readdir(join(at.folder, "sless/a"))).toEqual(["one"]);
  expect(await readdir(join(at.folder, "sless/b"))).toEqual(["five"]);
  expect(await readdir(join(at.folder, "sless/c"))).toEqual([]);
  expect(await readFile(join(at.folder, "sless/d"), "utf8")).toBe("no link");
  expect(await readFile(join(at.folder, "sless/e"), "utf8")).toBe("file");
});

it("links of the image lead to places of the folder, wherever that is moved", async () => {
  const at = await newFolder();
  await unpack(
    [
      { name: "sless/image/deps/real", text: "real" },
      { name: "sless/image/source/link", type: "symlink", linkname: "/sless/image/deps/real" },
      { name: "sless/image/source/hard", type: "link", linkname: "sless/image/deps/real" },
    ],
    at,
  );
  const source = join(at.folder, "sless/image/source");
  expect(await readlink(join(source, "link"))).toBe("../deps/real");
  expect(await readFile(join(source, "hard"), "utf8")).toBe("real");
});

it.each<[string, readonly Member[]]>([
  ["a path with ..", [{ name: "sless/../../escaped", text: "x" }]],
  ["a folder with ..", [{ name: "sless/a/../../../escaped", type: "directory" }]],
  [
    "a file below a link",
    [
      { name: "sless/out", type: "symlink", linkname: "../.." },
      { name: "sless/out/escaped", text: "x" },
    ],
  ],
  [
    "a folder below an absolute link",
    [
      { name: "sless/out", type: "symlink", linkname: "/tmp" },
      { name: "sless/out/escaped", type: "directory" },
    ],
  ],
  [
    "a removal below a link",
    [{ name: "sless/out", type: "symlink", linkname: "../.." }, { name: "sless/out/.wh.kept" }],
  ],
  ["a removal of what is above", [{ name: "sless/.wh..." }]],
  ["a removal of nothing", [{ name: "sless/.wh." }]],
  ["a folder that is a removal", [{ name: "sless/.wh.a/b", text: "x" }]],
  ["a hard link to what is above", [{ name: "sless/hard", type: "link", linkname: "sless/../../kept" }]],
  ["a hard link to a file of the machine", [{ name: "sless/hard", type: "link", linkname: "/etc/passwd" }]],
  [
    "a hard link through a link",
    [
      { name: "sless/out", type: "symlink", linkname: "../.." },
      { name: "sless/hard", type: "link", linkname: "sless/out/kept" },
    ],
  ],
  ["a hard link to what is not there", [{ name: "sless/hard", type: "link", linkname: "sless/none" }]],
])("%s is refused, and nothing outside is touched", async (_what, members) => {
  const at = await newFolder();
  await expect(unpack(members, at)).rejects.toMatchObject({ code: "archive_invalid" });
  expect((await readdir(at.outside)).sort()).toEqual(["image", "kept"]);
  expect(await readFile(join(at.outside, "kept"), "utf8")).toBe("kept");
});

it("an image of more than the machine takes is refused", async () => {
  const two = [
    { name: "sless/a", text: "12345" },
    { name: "sless/b", text: "12345" },
  ];
  await expect(unpack(two, await newFolder(), { bytes: 9, entries: 10 })).rejects.toThrow("larger than this machine");
  await expect(unpack(two, await newFolder(), { bytes: 99, entries: 1 })).rejects.toThrow("larger than this machine");
  await unpack(two, await newFolder(), { bytes: 10, entries: 2 });
});

it.each<[string, (layer: Uint8Array) => Uint8Array]>([
  ["is cut off", (layer) => layer.subarray(0, layer.byteLength / 2)],
  ["is no gzip", () => Buffer.from("x".repeat(2_000))],
  ["is gzip of no tar", () => gzipSync("x".repeat(2_000))],
])("a layer that %s is refused", async (_how, broken) => {
  const { folder } = await newFolder();
  const bytes = broken(await layerOf([{ name: "sless/a", text: "x".repeat(100) }]));
  const unpacking = unpackLayer({ mediaType: MEDIA_TYPES.ociLayer, bytes }, folder, unpackBudget());
  await expect(unpacking).rejects.toMatchObject({ code: "archive_invalid" });
});

it("whatever a layer names, nothing outside the folder is made or removed", async () => {
  const part = fc.constantFrom("sless", "a", "b", "..", ".", "", ".wh.a", ".wh...", ".wh..wh..opq", "image", "kept");
  const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  const member = fc.record({
    name: path.map((rest) => `sless/${rest}`),
    type: fc.constantFrom<NonNullable<Header["type"]>>("file", "directory", "symlink", "link"),
    linkname: fc.oneof(
      path,
      path.map((rest) => `/${rest}`),
      path.map((rest) => `../${rest}`),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(member, { maxLength: 8 }), async (members) => {
      const at = await newFolder();
      await symlink(at.outside, join(at.outside, "again"));
      await unpack(members, at).catch(() => undefined);
      expect((await readdir(at.outside)).sort()).toEqual(["again", "image", "kept"]);
      expect(lstatSync(join(at.outside, "kept")).nlink).toBe(1);
      expect(existsSync(at.folder)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
