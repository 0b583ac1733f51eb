import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const execFileAsync = promisify(execFile);
const bin = resolve(import.meta.dirname, "../../bin");
const PINNED = "26.10.0";

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A checkout that pins a Node and needs one package, with an npm on the PATH that only writes down what it does. */
async function checkout(options: { npm?: string; nodeSays?: string } = {}) {
  const root = await temporaryFolder();
  await mkdir(join(root, "tools"));
  await cp(bin, join(root, "bin"), { recursive: true });
  const lock = (version: string) => ({
    packages: { "": {}, "node_modules/a": { version }, "node_modules/b": { version, optional: true } },
  });
  const setLock = (version: string) => writeFile(join(root, "package-lock.json"), JSON.stringify(lock(version)));
  await setLock("1.0.0");
  await writeFile(join(root, "package.json"), JSON.stringify({ type: "module", devDependencies: { node: PINNED } }));
  const install = [
    `echo "$@" >> npm-calls; mkdir -p node_modules/.bin`,
    `sed 's/,"node_modules.b".*"optional":true}//' package-lock.json > node_modules/.package-lock.json`,
    `printf '#!/bin/sh\\necho v${options.nodeSays ?? PINNED}\\n' > node_modules/.bin/node; chmod +x node_modules/.bin/node`,
  ].join("\n");
  await writeFile(join(root, "tools", "npm"), `#!/bin/sh\n${options.npm ?? install}\n`);
  await chmod(join(root, "tools", "npm"), 0o755);
  const env = { PATH: `${join(root, "tools")}:${process.env.PATH}` };
  const start = async (): Promise<Run> => {
    try {
      const { stdout, stderr } = await execFileAsync(process.execPath, [join(root, "bin", "bootstrap.js")], { env });
      return { code: 0, stdout, stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as Run;
      return { code, stdout, stderr };
    }
  };
  const calls = async () =>
    (await readFile(join(root, "npm-calls"), "utf8").catch(() => "")).split("\n").filter(Boolean);
  return { root, start, calls, setLock };
}

it("a fresh clone installs what the lock file names, and says so on stderr alone", async () => {
  const clone = await checkout();
  const { code, stdout, stderr } = await clone.start();
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain("first start");
  expect(await clone.calls()).toEqual(["install --no-save --include=dev --no-audit --no-fund --loglevel=error"]);
});

it("a second start calls no npm and says nothing", async () => {
  const clone = await checkout();
  await clone.start();
  expect(await clone.start()).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await clone.calls()).toHaveLength(1);
});

it("npx finds the command of the checkout beside those of its packages", async () => {
  const clone = await checkout();
  const command = join(clone.root, "node_modules", ".bin", "sless");
  for (const _ of ["installed", "present"]) {
    expect((await clone.start()).code).toBe(0);
    expect(await realpath(command)).toBe(await realpath(join(clone.root, "bin", "sless.js")));
  }
});

it("a changed lock file installs anew", async () => {
  const clone = await checkout();
  await clone.start();
  await clone.setLock("1.0.1");
  expect((await clone.start()).stderr).toContain("package-lock.json has changed");
  expect(await clone.calls()).toHaveLength(2);
});

it("two starts at the same time install once", async () => {
  const clone = await checkout();
  const runs = await Promise.all([clone.start(), clone.start(), clone.start()]);
  expect(runs.map((run) => run.code)).toEqual([0, 0, 0]);
  expect(await clone.calls()).toHaveLength(1);
});

it("the lock of an install that was killed is taken over", async () => {
  const clone = await checkout();
  const gone = execFile("true");
  await new Promise((done) => gone.on("exit", done));
  await writeFile(join(clone.root, ".sless-install.lock"), String(gone.pid));
  expect((await clone.start()).code).toBe(0);
  expect(await clone.calls()).toHaveLength(1);
});

const failures: Record<string, [Parameters<typeof checkout>[0], RegExp]> = {
  "a failing npm is told with its exit code": [{ npm: "exit 7" }, /npm install failed \(exit code 7\)/],
  "a pinned Node of another version is refused with the command that mends it": [
    { nodeSays: "20.1.0" },
    /the pinned Node 26\.10\.0 is v20\.1\.0.*npm rebuild node --ignore-scripts=false/,
  ],
  "a Node that npm was not allowed to install is told with the command that mends it": [
    { npm: "mkdir node_modules && cp package-lock.json node_modules/.package-lock.json" },
    /the pinned Node 26\.10\.0 is not there.*npm rebuild node --ignore-scripts=false/,
  ],
};
it.each(Object.entries(failures))("%s", async (_name, [options, expected]) => {
  const { code, stderr } = await (await checkout(options)).start();
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
});

it("in a package an old Node is refused in one line", async () => {
  const root = await temporaryFolder();
  await cp(bin, join(root, "bin"), { recursive: true });
  await writeFile(join(root, "package.json"), JSON.stringify({ type: "module" }));
  // The version is what Node itself says; only the test can pretend another one.
  await writeFile(join(root, "old.cjs"), `Object.defineProperty(process.versions, "node", { value: "22.0.0" });`);
  const run = execFileAsync(process.execPath, ["--require", join(root, "old.cjs"), join(root, "bin", "sless.js")]);
  await expect(run).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^sless: needs Node 24 or newer.*\n$/),
  });
});
