import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type ArchiveFile,
  blobId,
  openArchive,
  packArchive,
  packedPieces,
  readArchive,
  type StoredFile,
  storedFile,
  unpackArchive,
} from "../../src/source/index.ts";
import { eventually } from "../support/eventually.ts";
import { type ForgedEntry, forgedZip } from "../support/forged-zip.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const file = (path: string, content = "", mode: ArchiveFile["mode"] = "100644"): ArchiveFile => ({
  path,
  mode,
  content: Buffer.from(content),
});

const LINK = 0o120777;

async function onDisk(zip: Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), "upload");
  await writeFile(path, zip);
  return path;
}

async function unpack(zip: Uint8Array, folder: string): Promise<void> {
  const archive = await openArchive(await onDisk(zip));
  await unpackArchive(archive, folder).finally(archive.close);
}

/** Paths, modes and bytes; or the code and the words of the refusal. */
async function outcomeOf(files: Promise<readonly ArchiveFile[]>): Promise<unknown> {
  const plain = (all: readonly ArchiveFile[]) =>
    all.map(({ path, mode, content }) => [path, mode, Buffer.from(content).toString("hex")]);
  return files.then(plain, ({ code, details }) => [code, details]);
}

async function readFromDisk(zip: Uint8Array): Promise<ArchiveFile[]> {
  const archive = await openArchive(await onDisk(zip));
  try {
    return await Promise.all(
      archive.files.map(async ({ path, mode, read }) => ({ path, mode, content: await read() })),
    );
  } finally {
    await archive.close();
  }
}

it("files, executables and links come out as they went in", async () => {
  const folder = join(await temporaryFolder(), "new", "folder");
  const binary = Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 256));
  await unpack(
    await packArchive([
      file("handler.py", "print()"),
      file("bin/run", "#!/bin/sh", "100755"),
      file("ünïcode/☃ \n.txt", "x"),
      file("a/link", "../handler.py", "120000"),
      file("empty"),
      { path: "binary", mode: "100644", content: binary },
    ]),
    folder,
  );
  expect(await readFile(join(folder, "handler.py"), "utf8")).toBe("print()");
  expect((await lstat(join(folder, "handler.py"))).mode & 0o111).toBe(0);
  expect((await lstat(join(folder, "bin/run"))).mode & 0o100).toBe(0o100);
  expect(await readFile(join(folder, "ünïcode/☃ \n.txt"), "utf8")).toBe("x");
  expect(await readlink(join(folder, "a/link"))).toBe("../handler.py");
  expect(await readFile(join(folder, "empty"), "utf8")).toBe("");
  expect(Buffer.compare(await readFile(join(folder, "binary")), binary)).toBe(0);
});

it("the same files make the same archive, in any order and time zone", async () => {
  const files = [file("b", "2"), file("a", "1", "100755"), file("a.b/c", "a", "120000")];
  const zone = process.env.TZ;
  const one = await packArchive(files);
  process.env.TZ = "Pacific/Auckland";
  const other = await packArchive(files.toReversed());
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  expect(Buffer.compare(one, other)).toBe(0);
});

it("any files come back from their archive", async () => {
  const name = fc.stringMatching(/^[a-zé☃][a-z0-9 ._-]{0,8}[a-z0-9]$/);
  const files = fc.uniqueArray(
    fc.record({
      path: fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/")),
      mode: fc.constantFrom("100644" as const, "100755" as const),
      content: fc.uint8Array({ maxLength: 300 }),
    }),
    { selector: ({ path }) => path.split("/")[0], maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(files, async (list) => {
      const read = await readArchive(await packArchive(list));
      const plain = (all: readonly ArchiveFile[]) =>
        all.map(({ path, mode, content }) => `${path} ${mode} ${Buffer.from(content).toString("hex")}`).sort();
      expect(plain(read)).toEqual(plain(list));
    }),
    { numRuns: 50 },
  );
});

const refused: Record<string, { entries: ForgedEntry[]; reason: RegExp }> = {
  "an absolute path": { entries: [{ name: "/etc/cron.d/x" }], reason: /is an absolute path/ },
  "a drive": { entries: [{ name: "C:/x" }], reason: /is an absolute path/ },
  "a way up": { entries: [{ name: "a/../../x" }], reason: /has a "\.\." part/ },
  "a dot": { entries: [{ name: "a/./x" }], reason: /has a "\." part/ },
  "a way up behind a dot": { entries: [{ name: "./../x" }], reason: /has a "\.\." part/ },
  "a root behind a dot": { entries: [{ name: ".//x" }], reason: /is an absolute path/ },
  "a name twice, with and without a dot": { entries: [{ name: "./x" }, { name: "x" }], reason: /is there twice/ },
  "names beside each other that hold control characters": {
    entries: [{ name: "A\u001b[2J" }, { name: "a\u001b[2J" }],
    reason: /^[^\p{Cc}]*differs from "A\\u001b\[2J" in case alone[^\p{Cc}]*$/u,
  },
  "an empty part": { entries: [{ name: "a//x" }], reason: /has an empty part/ },
  "an empty name": { entries: [{ name: "" }], reason: /is an empty name/ },
  "a backslash": { entries: [{ name: "..\\..\\x" }], reason: /holds a backslash/ },
  "a NUL": { entries: [{ name: "x\0.py" }], reason: /holds a NUL/ },
  "bytes that are no UTF-8": { entries: [{ name: Buffer.from([0x61, 0xff]) }], reason: /is no UTF-8 text/ },
  "a .git folder": { entries: [{ name: "a/.GIT/hooks/post-checkout" }], reason: /belongs to Git/ },
  "what Windows takes for .git": { entries: [{ name: "a/git~1/config" }], reason: /belongs to Git on some systems/ },
  "what macOS takes for .git": { entries: [{ name: ".g\u200cit/config" }], reason: /belongs to Git on some systems/ },
  "an alternate name of .git": { entries: [{ name: ".git. ::$INDEX/x" }], reason: /belongs to Git on some systems/ },
  "a name that no file system holds": { entries: [{ name: "x".repeat(256) }], reason: /longer than 255 bytes/ },
  "a path that no file system holds": { entries: [{ name: "x/".repeat(1500) }], reason: /longer than 2048 bytes/ },
  "a link out": { entries: [{ name: "a/l", mode: LINK, content: "../../etc" }], reason: /a link that leads out/ },
  "a link to the root": { entries: [{ name: "l", mode: LINK, content: "/etc/passwd" }], reason: /leads out/ },
  "links that lead out together": {
    entries: [
      { name: "a/up", mode: LINK, content: ".." },
      { name: "l", mode: LINK, content: "a/up/../x" },
    ],
    reason: /"l" is a link that leads out/,
  },
  "a link with an endless target": {
    entries: [{ name: "l", mode: LINK, content: "x".repeat(5000) }],
    reason: /endless target/,
  },
  "a file through a link": {
    entries: [
      { name: "l", mode: LINK, content: "/tmp" },
      { name: "l/x", content: "evil" },
    ],
    reason: /"l\/x" needs a folder where the link "l" is/,
  },
  "a link in place of a folder": {
    entries: [{ name: "l/x" }, { name: "l", mode: LINK, content: "/tmp" }],
    reason: /"l" is a folder too/,
  },
  "a name twice": { entries: [{ name: "x" }, { name: "x" }], reason: /is there twice/ },
  "names that differ in case": {
    entries: [{ name: "x/A" }, { name: "x/a" }],
    reason: /differs from "x\/A" in case alone/,
  },
  "folders that differ in case": {
    entries: [{ name: "X/a" }, { name: "x/b" }],
    reason: /differs from "X" in case alone/,
  },
  "names that differ in Unicode form": {
    entries: [{ name: "\u00e9" }, { name: "e\u0301" }],
    reason: /in how Unicode composes its letters alone/,
  },
  "names that differ in both": {
    entries: [{ name: "\u00e9" }, { name: "E\u0301" }],
    reason: /in case and how Unicode composes its letters alone/,
  },
  "a device": { entries: [{ name: "x", mode: 0o020666 }], reason: /neither a file, a folder nor a link/ },
  "a pipe": { entries: [{ name: "x", mode: 0o010666 }], reason: /neither a file/ },
  "an encrypted file": { entries: [{ name: "x", flags: 0x801 }], reason: /encrypted/ },
  "an unknown compression": { entries: [{ name: "x", method: 12 }], reason: /compressed in an unknown way/ },
  "a folder with content": { entries: [{ name: "x/", content: "1" }], reason: /is a folder with content/ },
  "more bytes than declared": {
    entries: [{ name: "x", content: "x".repeat(100_000), declaredSize: 10 }],
    reason: /is damaged \(its size is not as declared\)/,
  },
  "fewer bytes than declared": { entries: [{ name: "x", content: "x", declaredSize: 10 }], reason: /is damaged/ },
  "a wrong checksum": { entries: [{ name: "x", content: "x", crc: 1 }], reason: /checksum/ },
};
it.each(Object.entries(refused))(
  "an archive with %s is refused, and nothing is written",
  async (_, { entries, reason }) => {
    const root = await temporaryFolder();
    const folder = join(root, "into");
    const zip = forgedZip([{ name: "good.py", content: "1" }, ...entries]);
    const refusal = expect.objectContaining({ code: "archive_invalid", message: expect.stringMatching(reason) });
    await expect(unpack(zip, folder)).rejects.toThrow(refusal);
    expect(await readdir(root)).toEqual([]);
    await expect(readArchive(zip)).rejects.toThrow(refusal);
  },
);

it("what tar names with a dot before it is there without it", async () => {
  const zip = forgedZip([{ name: "./" }, { name: "./a/" }, { name: "./a/x.py", content: "1" }, { name: "./y" }]);
  expect((await readArchive(zip)).map(({ path }) => path)).toEqual(["a/x.py", "y"]);
  expect((await readFromDisk(zip)).map(({ path }) => path)).toEqual(["a/x.py", "y"]);
});

it("all faults are told at once, each with its entry, and long lists are cut", async () => {
  const zip = forgedZip([{ name: "../a" }, { name: "/b" }, { name: "ok" }, { name: "c\\d" }]);
  const error = await readArchive(zip).catch((thrown) => thrown);
  expect(error.details.cause).toBe('"../a" has a ".." part; "/b" is an absolute path; "c\\\\d" holds a backslash');
  const many = forgedZip(Array.from({ length: 25 }, (_, index) => ({ name: `/${index}` })));
  const longer = await readArchive(many).catch((thrown) => thrown);
  expect(longer.details.cause).toMatch(/and 5 more$/);
  expect(longer.cause.errors).toHaveLength(25);
});

it("damaged files are told at once too", async () => {
  const error = await readArchive(forgedZip([{ name: "a", crc: 1 }, { name: "b" }, { name: "c", crc: 2 }])).catch(
    (thrown) => thrown,
  );
  expect(error.cause.errors.map(({ message }: Error) => message)).toEqual([
    expect.stringMatching(/^"a" is damaged/),
    expect.stringMatching(/^"c" is damaged/),
  ]);
});

it.each<[string, ForgedEntry[], object]>([
  ["too many files", Array.from({ length: 4 }, (_, index) => ({ name: `${index}` })), { maxFiles: 3 }],
  ["endless folders", Array.from({ length: 50 }, (_, index) => ({ name: `${index}/` })), { maxFiles: 3 }],
  [
    "too many bytes",
    [
      { name: "a", content: "x".repeat(600) },
      { name: "b", content: "x".repeat(600) },
    ],
    { maxBytes: 1000 },
  ],
  ["a bomb", [{ name: "a", content: Buffer.alloc(60 << 20) }], {}],
  ["a declared size beyond all bounds", [{ name: "a", content: "x", declaredSize: 0xfffffff0 }], {}],
])("an archive of %s is too large", async (_, entries, limits) => {
  const refusal = expect.objectContaining({ code: "too_large" });
  await expect(readArchive(forgedZip(entries), limits)).rejects.toThrow(refusal);
  await expect(openArchive(await onDisk(forgedZip(entries)), limits)).rejects.toThrow(refusal);
});

it("an archive whose entries are all the same bytes of it is none", async () => {
  const content = randomBytes(10_000);
  const names = Array.from({ length: 20 }, (_, index) => `${index}`);
  const zip = forgedZip(names.map((name, index) => ({ name, content, isOverFirst: index > 0 })));
  const refusal = expect.objectContaining({ code: "archive_invalid", message: expect.stringContaining("over one") });
  await expect(readArchive(zip)).rejects.toThrow(refusal);
  await expect(openArchive(await onDisk(zip))).rejects.toThrow(refusal);
});

it("an archive at its limits is read", async () => {
  const zip = forgedZip(Array.from({ length: 3 }, (_, index) => ({ name: `d/${index}`, content: "xx" })));
  expect(await readArchive(zip, { maxFiles: 3, maxBytes: 6 })).toHaveLength(3);
});

it.each([
  ["nothing", Buffer.alloc(0)],
  ["a text", Buffer.from("not a zip")],
  ["a cut-off zip", forgedZip([{ name: "a", content: "x".repeat(100) }]).subarray(0, 60)],
  ["a zip without its beginning", forgedZip([{ name: "a", content: "x".repeat(100) }]).subarray(20)],
])("%s is no archive", async (_, bytes) => {
  const refusal = expect.objectContaining({ code: "archive_invalid" });
  await expect(readArchive(bytes)).rejects.toThrow(refusal);
  await expect(openArchive(await onDisk(bytes))).rejects.toThrow(refusal);
});

it("no bytes make it fail in another way than by a clear refusal", async () => {
  const zip = Buffer.from(await packArchive([file("a/b", "hello hello hello"), file("l", "a/b", "120000")]));
  const changes = fc.array(fc.tuple(fc.nat(zip.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(changes, async (list) => {
      const forged = Buffer.from(zip);
      for (const [at, byte] of list) forged[at] = byte;
      const outcome = await readArchive(forged).catch((error) => error);
      if (!Array.isArray(outcome)) expect(["archive_invalid", "too_large"]).toContain(outcome.code);
      const fromDisk = await readFromDisk(forged).catch((error) => error);
      expect(fromDisk.code).toEqual(outcome.code);
      if (Array.isArray(outcome)) expect(fromDisk).toEqual(outcome);
    }),
    { numRuns: 300 },
  );
});

it("an archive on the disk has the files that it has in memory, small and large, with Git's ids", async () => {
  const noise = randomBytes(300_000);
  const files = [
    file("a/handler.py", "print()"),
    file("bin/run", "#!/bin/sh", "100755"),
    file("a/link", "handler.py", "120000"),
    file("empty"),
    file("text", "many words ".repeat(50_000)),
    { path: "noise", mode: "100644" as const, content: noise },
  ];
  const stored = [
    { name: "noise", content: noise, method: 0 as const },
    { name: "small", content: "x", method: 0 as const },
  ];
  for (const zip of [await packArchive(files), forgedZip(stored)])
    expect(await outcomeOf(readFromDisk(zip))).toEqual(await outcomeOf(readArchive(zip)));
  const archive = await openArchive(await onDisk(await packArchive(files)));
  for (const { path, id, size, read, stream } of archive.files) {
    const content = files.find((one) => one.path === path)!.content;
    expect([id, size]).toEqual([blobId(content), content.length]);
    expect(Buffer.compare(await buffer(stream()), await read())).toBe(0);
  }
  await archive.close();
});

it("files of an archive on the disk are packed again in pieces, with the same bytes and modes", async () => {
  const files = [file("b", "2".repeat(200_000)), file("a", "1", "100755"), file("a.b/l", "c", "120000"), file("a.b/c")];
  const archive = await openArchive(await onDisk(await packArchive(files)));
  const again = await buffer(packedPieces(archive.files));
  await archive.close();
  expect(await outcomeOf(readArchive(again))).toEqual(await outcomeOf(readArchive(await packArchive(files))));
});

it("packing in pieces ends with the error of a file that cannot be read, and with its reader", async () => {
  let isEnded = false;
  const failing: StoredFile = {
    ...storedFile(file("a", "x".repeat(10))),
    async *stream() {
      yield Buffer.from("x");
      throw new Error("gone");
    },
  };
  await expect(buffer(packedPieces([failing, storedFile(file("b"))]))).rejects.toThrow("gone");
  const endless: StoredFile = {
    ...storedFile(file("a")),
    async *stream() {
      try {
        for (;;) yield randomBytes(100_000);
      } finally {
        isEnded = true;
      }
    },
  };
  let pieces = 0;
  for await (const _ of packedPieces([endless])) if (++pieces === 5) break;
  await eventually("the reader ends", () => isEnded, Boolean);
});

it("a folder that holds something is left alone", async () => {
  const folder = await temporaryFolder();
  await symlink("/tmp", join(folder, "a"));
  const refusal = expect.objectContaining({ code: "storage_unavailable" });
  await expect(unpack(await packArchive([file("a/x")]), folder)).rejects.toThrow(refusal);
  expect(await readdir(folder)).toEqual(["a"]);
});

it("a disk that refuses leaves no part of the archive", async () => {
  const root = await temporaryFolder();
  await writeFile(join(root, "in-the-way"), "");
  const refusal = expect.objectContaining({ code: "storage_unavailable" });
  await expect(unpack(await packArchive([file("a")]), join(root, "in-the-way", "x"))).rejects.toThrow(refusal);
  expect(await readdir(root)).toEqual(["in-the-way"]);
  expect(await readFile(join(root, "in-the-way"), "utf8")).toBe("");
});

it("paths that could not be unpacked are not packed", async () => {
  const refusal = expect.objectContaining({ code: "archive_invalid" });
  for (const path of ["../x", "/x", "a\\b", ".git/config", "git~1/x"]) {
    await expect(packArchive([file(path)])).rejects.toThrow(refusal);
  }
  await expect(packArchive([file("a"), file("A")])).rejects.toThrow(refusal);
});

it("another tool finds an archive whole, with its modes", async () => {
  const files = [file("a/b", "hi"), file("run", "#!/bin/sh", "100755"), file("ü", "x".repeat(200_000)), file("z")];
  const path = await onDisk(await packArchive(files));
  const script = `import json, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
entries = [(i.filename, oct(i.external_attr >> 16), i.file_size, i.date_time[0]) for i in z.infolist()]
print(json.dumps([z.testzip(), entries]))`;
  const { stdout } = await promisify(execFile)("python3", ["-c", script, path]);
  expect(JSON.parse(stdout)).toEqual([
    null,
    [
      ["a/b", "0o100644", 2, 2000],
      ["run", "0o100755", 9, 2000],
      ["z", "0o100644", 0, 2000],
      ["ü", "0o100644", 200_000, 2000],
    ],
  ]);
});

it("an archive of another tool is read with its modes", async () => {
  const root = await temporaryFolder();
  const folder = join(root, "content");
  await mkdir(folder);
  await writeFile(join(folder, "run"), "#!/bin/sh\n");
  await chmod(join(folder, "run"), 0o755);
  await mkdir(join(folder, "d"));
  await writeFile(join(folder, "d/data"), "x".repeat(1000));
  const script = "import shutil,sys; shutil.make_archive(sys.argv[1],'zip',sys.argv[2])";
  await promisify(execFile)("python3", ["-c", script, join(root, "made"), folder]);
  const files = await readArchive(await readFile(join(root, "made.zip")));
  expect(files.map(({ path, mode }) => [path, mode]).sort()).toEqual([
    ["d/data", "100644"],
    ["run", "100755"],
  ]);
});
