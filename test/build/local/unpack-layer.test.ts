import { existsSync, lstatSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { type Header, pack } from "tar-stream";
import { expect, it } from "vitest";
import { makeLayer } from "../../../src/build/layer/index.ts";
import { stackLayers, type UnpackedLayer } from "../../../src/build/local/stack-layers.ts";
import { type UnpackBudget, unpackBudget, unpackLayer } from "../../../src/build/local/unpack-layer.ts";
import { MEDIA_TYPES, RegistryError } from "../../../src/registry/index.ts";
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

/** Puts layers on each other in the folder, each unpacked beside nothing of the test. */
async function unpack(layers: readonly (readonly Member[])[], { folder }: Unpacking): Promise<void> {
  const unpacked: UnpackedLayer[] = [];
  for (const members of layers) {
    const own = await temporaryFolder();
    const layer = { mediaType: MEDIA_TYPES.ociLayer, pieces: [await layerOf(members)] };
    unpacked.push({ ...(await unpackLayer(layer, own, unpackBudget())), folder: own });
  }
  await stackLayers(unpacked, folder);
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
  const removals = await unpackLayer(
    { mediaType: MEDIA_TYPES.dockerLayer, pieces: [bytes] },
    at.folder,
    unpackBudget(),
  );
  expect(removals).toEqual({ removed: [], emptied: [] });
  expect(await readdir(at.folder)).toEqual(["sless"]);
  const image = join(at.folder, "sless/image");
  expect(await readFile(join(image, "source/handler.py"), "utf8")).toBe("code");
  expect((await stat(join(image, "source/run.sh"))).mode & 0o111).toBe(0o111);
  expect((await stat(join(image, "source/handler.py"))).mode & 0o111).toBe(0);
  expect(await readlink(join(image, "node_modules"))).toBe("deps/node_modules");
});

it.each([
  ["application/vnd.oci.image.layer.v1.tar+zstd", zstdCompressSync],
  ["application/vnd.oci.image.layer.v1.tar", (tar: Uint8Array) => tar],
  ["application/vnd.docker.image.rootfs.diff.tar.zstd", zstdCompressSync],
  [MEDIA_TYPES.dockerLayer, gzipSync],
])("a layer of the type %s is unpacked", async (mediaType, packed) => {
  const { folder } = await newFolder();
  const tar = gunzipSync(await layerOf([{ name: "sless/image/source/handler.py", text: "print()" }]));
  await unpackLayer({ mediaType, pieces: [packed(tar)] }, folder, unpackBudget());
  expect(await readFile(join(folder, "sless/image/source/handler.py"), "utf8")).toBe("print()");
});

it("a later layer replaces, and removes what it says is gone", async () => {
  const at = await newFolder();
  const below = [
    { name: "sless/a/one", text: "1" },
    { name: "./sless/a/two", text: "2" },
    { name: "sless/b/three", text: "3" },
    { name: "sless/c", text: "file" },
    { name: "sless/d", type: "symlink", linkname: "a" },
    { name: "sless/e/four", text: "4" },
  ] as const;
  const above = [
    { name: "sless/a/one", text: "new" },
    { name: "sless/a/.wh.two" },
    { name: "sless/b/five", text: "5" },
    { name: "sless/b/.wh..wh..opq" },
    { name: "sless/c", type: "directory" },
    { name: "sless/d", text: "no link" },
    { name: "sless/e", text: "file" },
  ] as const;
  await unpack([below, above], at);
  expect(await readFile(join(at.folder, "sless/a/one"), "utf8")).toBe("new");
  expect(await readdir(join(at.folder, "sless/a"))).toEqual(["one"]);
  expect(await readdir(join(at.folder, "sless/b"))).toEqual(["five"]);
  expect(await readdir(join(at.folder, "sless/c"))).toEqual([]);
  expect(await readFile(join(at.folder, "sless/d"), "utf8")).toBe("no link");
  expect(await readFile(join(at.folder, "sless/e"), "utf8")).toBe("file");
});

const DEPENDENCIES = [{ name: "sless/image/deps/package/index.js", text: "installed" }] as const;

it("dependencies are shared by all images that stand on them, the code of each is its own", async () => {
  const layers = await temporaryFolder();
  const removals = { removed: [], emptied: [] };
  const layer = async (name: string, members: readonly Member[]) => {
    const folder = join(layers, name);
    await mkdir(folder);
    await unpackLayer({ mediaType: MEDIA_TYPES.ociLayer, pieces: [await layerOf(members)] }, folder, unpackBudget());
    return { ...removals, folder };
  };
  const shared = await layer("dependencies", DEPENDENCIES);
  const server = await layer("server", [{ name: "sless/image/deps/", type: "directory" }]);
  for (const name of ["one", "two"]) {
    const target = join(layers, `image-${name}`);
    await mkdir(target);
    const code = await layer(name, [{ name: "sless/image/source/handler.js", text: name }]);
    await stackLayers([shared, server, code], target);
    expect(await readFile(join(target, "sless/image/source/handler.js"), "utf8")).toBe(name);
    expect(await readFile(join(target, "sless/image/deps/package/index.js"), "utf8")).toBe("installed");
    expect(await realpath(join(target, "sless/image/deps"))).toBe(join(shared.folder, "sless/image/deps"));
  }
});

it.each<[string, readonly (readonly Member[])[], string[]]>([
  ["two layers have dependencies", [DEPENDENCIES, [{ name: "sless/image/deps/more", text: "x" }]], ["more", "package"]],
  ["a layer has code beside them", [[...DEPENDENCIES, { name: "sless/image/source/a", text: "x" }]], ["package"]],
  ["some of them are removed", [DEPENDENCIES, [{ name: "sless/image/deps/.wh.package" }]], []],
])("where %s every image has a folder of them", async (_when, layers, names) => {
  const at = await newFolder();
  await unpack(layers, at);
  const deps = join(at.folder, "sless/image/deps");
  expect(lstatSync(deps).isDirectory()).toBe(true);
  expect((await readdir(deps)).sort()).toEqual(names);
});

it("links of the image lead to places of the folder, wherever that is moved", async () => {
  const at = await newFolder();
  const members = [
    { name: "sless/image/deps/real", text: "real" },
    { name: "sless/image/source/link", type: "symlink", linkname: "/sless/image/deps/real" },
    { name: "sless/image/source/hard", type: "link", linkname: "sless/image/deps/real" },
  ] as const;
  await unpack([members], at);
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
  await expect(unpack([members], at)).rejects.toMatchObject({ code: "archive_invalid" });
  expect((await readdir(at.outside)).sort()).toEqual(["image", "kept"]);
  expect(await readFile(join(at.outside, "kept"), "utf8")).toBe("kept");
});

it.each<[string, readonly Member[]]>([
  ["a removal", [{ name: "sless/out/.wh.kept" }]],
  ["an emptied folder", [{ name: "sless/out/.wh..wh..opq" }]],
  ["a file", [{ name: "sless/out/kept", text: "written" }]],
  ["a folder", [{ name: "sless/out/kept", type: "directory" }]],
])("%s below a link of a lower layer leaves alone what that leads to", async (_what, above) => {
  const at = await newFolder();
  await unpack([[{ name: "sless/out", type: "symlink", linkname: "../.." }], above], at);
  expect((await readdir(at.outside)).sort()).toEqual(["image", "kept"]);
  expect(await readFile(join(at.outside, "kept"), "utf8")).toBe("kept");
});

it.each<[string, string, "empty" | "file" | "filled"]>([
  ["the folder of the image", "sless/image", "empty"],
  ["the folder of the image where that has such a file", "sless/image", "file"],
  ["the folder of the image where that has such a folder", "sless/image", "filled"],
  ["the folder of all", "sless", "empty"],
])("a layer with a link for %s gets shared dependencies nowhere else", async (_what, name, found) => {
  const at = await newFolder();
  const elsewhere = join(at.outside, name === "sless" ? "elsewhere/image" : "elsewhere");
  await mkdir(elsewhere, { recursive: true });
  if (found === "file") await writeFile(join(elsewhere, "deps"), "kept");
  if (found === "filled") {
    await mkdir(join(elsewhere, "deps"));
    await writeFile(join(elsewhere, "deps/a"), "kept");
  }
  const before = await readdir(elsewhere, { recursive: true });
  await unpack([DEPENDENCIES, [{ name, type: "symlink", linkname: join(at.outside, "elsewhere") }]], at);
  expect(await readdir(elsewhere, { recursive: true })).toEqual(before);
  expect(lstatSync(join(at.folder, "sless/image")).isDirectory()).toBe(true);
  expect(await readFile(join(at.folder, "sless/image/deps/package/index.js"), "utf8")).toBe("installed");
});

const TWO = [
  { name: "sless/a", text: "12345" },
  { name: "sless/b/c/d", text: "12345" },
];
/** A tar has a head of 512 bytes for each, content in pieces of so many, and two such pieces at its end. */
const TAR_BYTES = 6 * 512;

it.each<[string, readonly Member[], Partial<UnpackBudget>]>([
  ["bytes", TWO, { bytes: 9 }],
  ["files, with the folders that they need", TWO, { entries: 4 }],
  ["bytes to look through", TWO, { read: TAR_BYTES - 1 }],
  ["bytes to look through, none of them ours", [{ name: "zeros", text: "\0".repeat(1_000_000) }], { read: 999_999 }],
])("an image of more %s than the machine takes is refused", async (_what, members, less) => {
  const bytes = await layerOf(members);
  const within = async (budget: Partial<UnpackBudget>) =>
    unpackLayer({ mediaType: MEDIA_TYPES.ociLayer, pieces: [bytes] }, await temporaryFolder(), {
      ...{ bytes: 10, entries: 5, read: 1_002_048 },
      ...budget,
    });
  await expect(within(less)).rejects.toThrow("larger than this machine");
  await within({});
});

it.each<[string, (layer: Uint8Array) => Uint8Array]>([
  ["is cut off", (layer) => layer.subarray(0, layer.byteLength / 2)],
  ["is no gzip", () => Buffer.from("x".repeat(2_000))],
  ["is gzip of no tar", () => gzipSync("x".repeat(2_000))],
])("a layer that %s is refused", async (_how, broken) => {
  const { folder } = await newFolder();
  const bytes = broken(await layerOf([{ name: "sless/a", text: "x".repeat(100) }]));
  const unpacking = unpackLayer({ mediaType: MEDIA_TYPES.ociLayer, pieces: [bytes] }, folder, unpackBudget());
  await expect(unpacking).rejects.toMatchObject({ code: "archive_invalid" });
});

it("whatever layers name, nothing outside the folder is made or removed", async () => {
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
    fc.asyncProperty(fc.array(fc.array(member, { maxLength: 6 }), { maxLength: 3 }), async (layers) => {
      const at = await newFolder();
      await symlink(at.outside, join(at.outside, "again"));
      await unpack(layers, at).catch(() => undefined);
      expect((await readdir(at.outside)).sort()).toEqual(["again", "image", "kept"]);
      expect(lstatSync(join(at.outside, "kept")).nlink).toBe(1);
      expect(existsSync(at.folder)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

it("an image of which a layer is gone is not put together from the others", async () => {
  const { folder, outside } = await newFolder();
  const gone = { removed: [], emptied: [], folder: join(outside, "gone") };
  await expect(stackLayers([gone], folder)).rejects.toThrow("a layer of the image is gone");
});

it("a layer that breaks off on the way is told by what broke", async () => {
  const bytes = await layerOf([{ name: "sless/a", text: "x".repeat(100_000) }]);
  const broke = new RegistryError(0, "", "registry broke off");
  async function* pieces() {
    yield bytes.subarray(0, bytes.byteLength / 2);
    throw broke;
  }
  const layer = { mediaType: MEDIA_TYPES.ociLayer, pieces: pieces() };
  await expect(unpackLayer(layer, await temporaryFolder(), unpackBudget())).rejects.toBe(broke);
});

it.each([
  ["that is no gzip", "x".repeat(300_000)],
  ["of zeros", "\0".repeat(300_000)],
])("a layer with a tail %s is not unpacked before all of it was seen", async (_what, tail) => {
  const bytes = await layerOf([{ name: "sless/a", text: "x" }]);
  let isSeen = false;
  async function* pieces() {
    yield bytes;
    for (let part = 0; part < 5; part += 1) yield Buffer.from(tail);
    isSeen = true;
  }
  const layer = { mediaType: MEDIA_TYPES.ociLayer, pieces: pieces() };
  const refusal = await unpackLayer(layer, await temporaryFolder(), unpackBudget()).catch((error) => error);
  if (!isSeen) expect(refusal).toMatchObject({ code: "archive_invalid" });
});
