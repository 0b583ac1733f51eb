import fc from "fast-check";
import { expect, it } from "vitest";
import { type ArchiveFile, packArchive, readArchive, storedFile } from "../../src/source/index.ts";
import { uploadedSource } from "../../src/writes/index.ts";
import { desiredFrom } from "../desired/open-reader.ts";
import { functionYaml, handler, runtimes } from "../support/function-files.ts";
import type { Files } from "../support/git-repository.ts";

const PYTHON = runtimes.get("python3.11")!;
const WORKLOAD = { kind: "Function", namespace: "demo", name: "hello" } as const;

type Content = string | Uint8Array | Omit<ArchiveFile, "path">;

function filesOf(files: Readonly<Record<string, Content>>): ArchiveFile[] {
  return Object.entries(files).map(([path, file]) =>
    typeof file === "string" || file instanceof Uint8Array
      ? { path, mode: "100644", content: Buffer.from(file as string) }
      : { path, ...file },
  );
}

function upload(
  files: Readonly<Record<string, Content>>,
  options: { entrypoint?: string; maxSourceFiles?: number } = {},
) {
  const { entrypoint, maxSourceFiles } = options;
  const limits = maxSourceFiles === undefined ? {} : { maxSourceFiles };
  return uploadedSource({
    files: filesOf(files).map(storedFile),
    workload: WORKLOAD,
    runtime: PYTHON,
    entrypoint,
    runtimes,
    limits,
  });
}

const accepted: Record<string, [files: Record<string, Content>, paths: string[], entrypoint?: string]> = {
  "files as they are": [{ "handler.py": "", "lib/a.txt": "" }, ["handler.py", "lib/a.txt"]],
  "the one folder that macOS packs": [
    { "hello/handler.py": "", "hello/.DS_Store": "x", "__MACOSX/hello/._handler.py": "x", ".DS_Store": "x" },
    ["handler.py"],
  ],
  "a folder that the entry point names": [{ "src/handler.py": "" }, ["src/handler.py"], "src/handler.handle"],
  "manifests, which are left out": [
    { "function.yaml": functionYaml("other"), "handler.py": "", "data.yaml": "a: 1" },
    ["data.yaml", "handler.py"],
  ],
  "manifests that no rule hides": [
    { ".slessignore": "*.yaml", "function.yaml": ":", "handler.py": "" },
    [".slessignore", "handler.py"],
  ],
  "ignored files, which are left out": [
    {
      ".slessignore": "*.log\n/build/\n",
      "handler.py": "",
      "a.log": "",
      "build/x": "",
      "lib/.slessignore": "b",
      "lib/b": "",
    },
    [".slessignore", "handler.py", "lib/.slessignore"],
  ],
  "ignore rules of the one folder": [
    { "top/.slessignore": "/a", "top/a": "", "top/handler.py": "" },
    [".slessignore", "handler.py"],
  ],
  "another workload's folder, which is left out": [
    { "handler.py": "", "other/function.yaml": functionYaml("other"), "other/handler.py": "" },
    ["handler.py"],
  ],
  "a repository, of which the manifest names the folder": [
    {
      "README.md": "",
      "functions/hello/function.yaml": functionYaml("hello", { sourceDir: "src" }),
      "functions/hello/src/handler.py": "",
    },
    ["handler.py"],
  ],
};
it.each(Object.entries(accepted))("%s make the source", async (_name, [files, paths, entrypoint]) => {
  const source = await upload(files, entrypoint === undefined ? {} : { entrypoint });
  expect(source.files.map(({ path }) => path).sort()).toEqual(paths);
});

const link = (target: string): Content => ({ mode: "120000", content: Buffer.from(target) });
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12345\n`;

const refused: Record<string, [files: Record<string, Content>, expected: object]> = {
  "no file at all": [{}, { code: "source_missing" }],
  "no handler": [{ "main.py": "" }, { code: "source_missing", message: expect.stringContaining("handler.py") }],
  "a handler two folders below": [{ "a/b/handler.py": "" }, { code: "source_missing" }],
  "a handler in one of two folders": [{ "a/handler.py": "", "b/x": "" }, { code: "source_missing" }],
  "an ignored handler": [{ ".slessignore": "handler.py", "handler.py": "" }, { code: "source_missing" }],
  "a link out": [{ "handler.py": "", l: link("../x") }, { code: "source_escapes" }],
  "a link out of the one folder": [{ "a/handler.py": "", "a/l": link("../b"), "a/b": "" }, { code: "source_escapes" }],
  "a Git LFS pointer": [{ "handler.py": "", "model.bin": pointer }, { code: "source_unsupported" }],
  "too many files": [
    { "handler.py": "", a: "", b: "", c: "" },
    { code: "too_large", status: 413 },
  ],
  "an endless ignore file": [{ "handler.py": "", ".slessignore": "#".repeat(70_000) }, { code: "source_unsupported" }],
};
it.each(Object.entries(refused))("%s is refused with a reason", async (_name, [files, expected]) => {
  await expect(upload(files, { maxSourceFiles: 3 })).rejects.toMatchObject(expected);
});

it("every fault of a source is told", async () => {
  const refusal = upload({ "handler.py": "", a: link("/etc"), b: link("..") });
  await expect(refusal).rejects.toMatchObject({ reasons: [{ field: "a" }, { field: "b" }] });
});

it("an upload has the digest that a push of the same files has", async () => {
  const files = {
    "handler.py": handler(),
    "requirements.txt": "requests\n",
    ".slessignore": "*.tmp\n",
    "x.tmp": "ignored",
    "data/größe 中.bin": Uint8Array.from([0, 255, 128, 10]),
    "bin/tool": { mode: "100755", content: Buffer.from("#!/bin/sh\n") },
    "bin/link": link("tool"),
  } as const satisfies Record<string, Content>;
  const pushed: Files = {
    ...files,
    "bin/tool": { mode: "755", content: files["bin/tool"].content },
    "bin/link": { symlink: "tool" },
    "function.yaml": functionYaml("hello"),
  };
  const { read } = await desiredFrom(pushed);
  const { digest, dependenciesDigest } = (await read()).objects[0]!.source!;
  const archive = await readArchive(await packArchive(filesOf(files)));
  const source = await uploadedSource({
    files: archive.map(storedFile),
    workload: WORKLOAD,
    runtime: PYTHON,
    entrypoint: undefined,
    runtimes,
  });
  expect(source).toMatchObject({ digest, dependenciesDigest });
});

it("any set of files comes through with its bytes and modes, from whatever folder it was packed", async () => {
  const name = fc.stringMatching(/^[a-z]{1,8}( [а-я]{1,3})?\.(py|txt|bin)$/u);
  const mode = fc.constantFrom<ArchiveFile["mode"]>("100644", "100755");
  const file = fc.record({ mode, content: fc.uint8Array({ maxLength: 40 }) });
  const files = fc.dictionary(name, file, { maxKeys: 8, noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(files, fc.boolean(), async (others, isInFolder) => {
      const all: Record<string, Content> = { ...others, "handler.py": handler() };
      const packed = Object.entries(all).map(([path, one]) => [isInFolder ? `top/${path}` : path, one] as const);
      const source = await upload(Object.fromEntries(packed));
      const wanted = filesOf(all).sort((a, b) => (a.path < b.path ? -1 : 1));
      const got = await Promise.all(
        source.files.map(async (one) => [one.path, one.mode, Buffer.from(await one.read())]),
      );
      expect(got.sort(([a], [b]) => (a! < b! ? -1 : 1))).toEqual(
        wanted.map(({ path, mode: m, content }) => [path, m, Buffer.from(content)]),
      );
      expect(source.digest).toBe((await upload(all)).digest);
    }),
    { numRuns: 40 },
  );
});
