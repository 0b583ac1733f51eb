import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findInterpreter, type InterpreterWanted } from "../../src/runtimes/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const WANTED: InterpreterWanted = {
  version: "3.11",
  minimum: "3.8",
  commands: ["snake3.11", "snake3", "snake"],
  folders: ["~/.manager/versions/*/bin", "/not-there/*/bin"],
  versionArgs: ["--version"],
  versionPattern: "^Snake (\\d+\\.\\d+\\.\\d+)(?: at (?<path>.+))?",
  install: "apt-get install snake",
};

/** Programs by path that print these words. */
async function machineWith(programs: Record<string, string>): Promise<string> {
  const root = await temporaryFolder();
  for (const [path, output] of Object.entries(programs)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(
      file,
      `#!/bin/sh\n${output.startsWith("!") ? output.slice(1) : `echo "${output.replaceAll("ROOT", root)}"`}\n`,
    );
    await chmod(file, 0o755);
  }
  return root;
}

interface Case {
  readonly programs: Record<string, string>;
  readonly path?: readonly string[];
  readonly excluded?: readonly string[];
  readonly expected: { path: string; version: string; exact: boolean } | undefined;
}

const CASES: Record<string, Case> = {
  "the exact version is taken wherever it stands on PATH": {
    programs: { "a/snake3": "Snake 3.12.1", "b/snake3.11": "Snake 3.11.7" },
    expected: { path: "b/snake3.11", version: "3.11.7", exact: true },
  },
  "the better name comes before the earlier folder": {
    programs: { "a/snake3": "Snake 3.11.1", "b/snake3.11": "Snake 3.11.7" },
    expected: { path: "b/snake3.11", version: "3.11.7", exact: true },
  },
  "3.1 is not 3.11": {
    programs: { "a/snake3": "Snake 3.110.0", "b/snake": "Snake 3.11.0" },
    expected: { path: "b/snake", version: "3.11.0", exact: true },
  },
  "a version manager has the exact one where PATH has only a near one": {
    programs: {
      "a/snake3": "Snake 3.12.1",
      ".manager/versions/3.11.7/bin/snake3.11": "Snake 3.11.7",
      ".manager/versions/3.13.0/bin/snake3.11": "!exit 9",
    },
    expected: { path: ".manager/versions/3.11.7/bin/snake3.11", version: "3.11.7", exact: true },
  },
  "without the exact one the nearest is taken": {
    programs: { "a/snake3": "Snake 3.14.0", "b/snake": "Snake 3.10.2" },
    expected: { path: "b/snake", version: "3.10.2", exact: false },
  },
  "of two equally near ones the newer is taken": {
    programs: { "a/snake3": "Snake 3.10.0", "b/snake": "Snake 3.12.0" },
    expected: { path: "b/snake", version: "3.12.0", exact: false },
  },
  "what is older than the minimum is none": {
    programs: { "a/snake": "Snake 2.7.18", "b/snake3": "Snake 3.7.0" },
    expected: undefined,
  },
  "an excluded folder is not looked into": {
    programs: { "a/snake3.11": "Snake 3.11.7", "b/snake": "Snake 3.12.0" },
    excluded: ["a"],
    expected: { path: "b/snake", version: "3.12.0", exact: false },
  },
  "a shim gives the program behind it": {
    programs: { "a/snake3.11": "Snake 3.11.7 at ROOT/real/snake", "real/snake": "Snake 3.11.7" },
    expected: { path: "real/snake", version: "3.11.7", exact: true },
  },
  "a shim for an excluded program is none": {
    programs: { "a/snake3.11": "Snake 3.11.7 at ROOT/real/snake", "real/snake": "Snake 3.11.7" },
    excluded: ["real"],
    expected: undefined,
  },
  "programs that fail or say something else are none": {
    programs: { "a/snake": "!exit 1", "b/snake": "Serpent 3.11.0" },
    expected: undefined,
  },
  "an empty machine has none": { programs: {}, expected: undefined },
};

describe("finding an interpreter", () => {
  it.each(Object.entries(CASES))("%s", async (_name, { programs, excluded = [], expected }) => {
    const root = await machineWith(programs);
    const found = await findInterpreter(
      { interpreter: WANTED },
      { path: `${root}/a:${root}/b:relative:/bin`, excluded: excluded.map((folder) => join(root, folder)), home: root },
    );
    expect(found).toEqual(expected && { ...expected, path: join(root, expected.path) });
  });

  it("a link into an excluded folder is not taken", async () => {
    const root = await machineWith({ "modules/snake": "Snake 3.11.7" });
    await mkdir(join(root, "a"));
    await symlink(join(root, "modules/snake"), join(root, "a/snake"));
    const found = await findInterpreter(
      { interpreter: WANTED },
      { path: `${root}/a:/bin`, excluded: [join(root, "modules")], home: root },
    );
    expect(found).toBeUndefined();
  });

  it("a program that hangs is given up", async () => {
    const root = await machineWith({ "a/snake3": "!exec sleep 60", "b/snake": "Snake 3.11.0" });
    const found = await findInterpreter(
      { interpreter: WANTED },
      { path: `${root}/a:${root}/b:/bin`, excluded: [], home: root, versionTimeoutMs: 5_000 },
    );
    expect(found?.version).toBe("3.11.0");
  });
});
