import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { isSlessError, messageOf } from "../../src/errors/index.ts";
import { expandCommand, loadRuntimes } from "../../src/runtimes/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const VALID = `
language: bash
baseImage: docker.io/library/bash:5
server: ../bash
interpreter:
  version: "5"
  minimum: "4"
  commands: [bash]
  versionArgs: [--version]
  versionPattern: 'version (\\d+\\.\\d+)'
  install: apt-get install bash
dependencyFiles: [packages.txt, b.lock]
install:
  - when: [packages.txt]
    command: [fetch, --into, "{deps}", packages.txt]
handlerExtensions: [.sh]
start:
  command: ["{interpreter}", "{runtime}/server.sh"]
`;

async function runtimesFolder(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

const SERVER = { "bash/server.sh": "serve" };
type Fields = Record<string, unknown> & { interpreter: Record<string, unknown>; start: Record<string, unknown> };

/** The message about a file with one thing changed. */
async function faultOf(change: (file: Fields) => void): Promise<string> {
  const file = parse(VALID) as Fields;
  change(file);
  return refusalOf(stringify(file));
}

async function refusalOf(yaml: string): Promise<string> {
  const folder = await runtimesFolder({ ...SERVER, "bash5/runtime.yaml": yaml });
  return loadRuntimes(folder).then(
    () => "loaded",
    (error: unknown) => {
      expect(isSlessError(error, "runtime_invalid")).toBe(true);
      return messageOf(error).replace(`${folder}/`, "");
    },
  );
}

describe("a runtime is a folder", () => {
  it("its fields are those of runtime.yaml, its server may be shared, and what has no runtime.yaml is none", async () => {
    const folder = await runtimesFolder({
      ...SERVER,
      "bash5/runtime.yaml": VALID,
      "bash6/runtime.yaml": VALID,
      "notes.md": "",
    });
    const runtimes = await loadRuntimes(folder);
    expect([...runtimes.keys()]).toEqual(["bash5", "bash6"]);
    expect(runtimes.get("bash5")).toMatchObject({
      name: "bash5",
      folder: join(folder, "bash"),
      dependencyFiles: ["b.lock", "packages.txt"],
      start: { env: {} },
      buildEnv: {},
      interpreter: { folders: [] },
    });
  });

  it("its digest follows its own files and the server's, and nothing an interpreter leaves there", async () => {
    const digestWith = async (files: Record<string, string>) => {
      const folder = await runtimesFolder({ ...SERVER, "bash5/runtime.yaml": VALID, ...files });
      return (await loadRuntimes(folder)).get("bash5")!.digest;
    };
    const plain = await digestWith({});
    expect(plain).toMatch(/^[0-9a-f]{64}$/);
    expect(await digestWith({ "bash/__pycache__/x.pyc": "cache", "bash/.swp": "x", "other/file": "x" })).toBe(plain);
    expect(await digestWith({ "bash/server.sh": "changed" })).not.toBe(plain);
    expect(await digestWith({ "bash/lib/more.sh": "new" })).not.toBe(plain);
    expect(await digestWith({ "bash5/runtime.yaml": `${VALID}# changed\n` })).not.toBe(plain);
  });

  it("the runtimes of this repository load, and their dependency files are sorted", async () => {
    const runtimes = await loadRuntimes(resolve(import.meta.dirname, "../../runtimes"));
    expect([...runtimes.keys()]).toEqual(["go1.23", "go1.26", "nodejs20", "nodejs24", "python3.11", "python3.13"]);
    for (const { dependencyFiles } of runtimes.values()) expect(dependencyFiles).toEqual([...dependencyFiles].sort());
  });

  it("a runtime that shares its server is data alone, with a digest of its own", async () => {
    const folder = resolve(import.meta.dirname, "../../runtimes");
    const runtimes = await loadRuntimes(folder);
    const pairs = [
      ["python3.11", "python3.13"],
      ["nodejs20", "nodejs24"],
      ["go1.23", "go1.26"],
    ] as const;
    for (const [old, young] of pairs) {
      expect(await readdir(join(folder, young))).toEqual(["runtime.yaml"]);
      expect(runtimes.get(young)!.folder).toBe(runtimes.get(old)!.folder);
      expect(runtimes.get(young)!.digest).not.toBe(runtimes.get(old)!.digest);
    }
  });

  it.each<[string, (file: Fields) => void, RegExp]>([
    [
      "a missing field",
      (file) => delete file.interpreter.version,
      /^bash5\/runtime\.yaml does not describe a runtime: interpreter\.version is missing\. Correct it/,
    ],
    [
      "an unknown field",
      (file) => Object.assign(file, { handlerExtension: [".sh"] }),
      /handlerExtension is no field; did you mean handlerExtensions\?/,
    ],
    [
      "a number for a version",
      (file) => Object.assign(file.interpreter, { version: 3.11 }),
      /interpreter\.version wants a string, not 3\.11 \(put it in quotes\)/,
    ],
    [
      "an unknown placeholder",
      (file) => Object.assign(file.start, { command: ["{interpretr}"] }),
      /start\.command names \{interpretr\}; known there: \{interpreter\}/,
    ],
    [
      "a placeholder of another command",
      (file) => Object.assign(file, { build: { command: ["{deps}"] } }),
      /build\.command names \{deps\}/,
    ],
    [
      "a pattern that is none",
      (file) => Object.assign(file.interpreter, { versionPattern: "(" }),
      /interpreter\.versionPattern is no regular expression/,
    ],
    [
      "an install of an unlisted file",
      (file) => Object.assign(file, { dependencyFiles: [] }),
      /install needs packages\.txt, which is not among dependencyFiles/,
    ],
    ["a server outside of the folder", (file) => Object.assign(file, { server: "../../etc" }), /server leaves /],
    [
      "a server that is not there",
      (file) => Object.assign(file, { server: "../gone" }),
      /server .*gone cannot be read/,
    ],
    [
      "an empty command",
      (file) => Object.assign(file.start, { command: [] }),
      /start\.command must NOT have fewer than 1 items/,
    ],
  ])("%s is told", async (_name, change, message) => {
    expect(await faultOf(change)).toMatch(message);
  });

  it("all faults are told at once", async () => {
    const message = await faultOf((file) => {
      delete file.language;
      Object.assign(file, { nonsense: 1 });
    });
    expect(message).toMatch(/language is missing; .*nonsense is no field/);
  });

  it("a file that is no YAML, or no map, is told", async () => {
    expect(await refusalOf("language: [")).toMatch(/^bash5\/runtime\.yaml does not describe a runtime: .*line 1/);
    expect(await refusalOf("- a")).toMatch(/the file wants a object/);
  });

  it("a folder that is not there is told", async () => {
    await expect(loadRuntimes("/not-there")).rejects.toThrow(/\/not-there cannot be written or read/);
  });
});

describe("expanding a command", () => {
  it("a value stays one argument, is not expanded again, and a part may hold several", () => {
    const values = { interpreter: "/opt/my python", source: "{deps}", deps: "/d" };
    expect(expandCommand(["{interpreter}", "a={source}:{deps}", "plain {}"], values)).toEqual([
      "/opt/my python",
      "a={deps}:/d",
      "plain {}",
    ]);
  });

  it("a placeholder without a value is no empty text", () => {
    expect(() => expandCommand(["x", "{out}/function"], {})).toThrow(/\{out\} has no value in "\{out\}\/function"/);
  });
});
