import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { expandCommand } from "../../src/runtimes/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { act } from "./exchange.ts";
import { type Files, inlineImage, writeFiles } from "./inline-image.ts";
import { buildEnvironment, machineOf } from "./machines.ts";
import { killReplica, type Machine, startReplica } from "./replica.ts";

const run = promisify(execFile);

/** Installs as a builder does: in a folder that holds the dependency files alone. */
async function install(machine: Machine, files: Files): Promise<string> {
  const deps = join(await temporaryFolder(), "deps");
  await mkdir(deps);
  await writeFiles(deps, files);
  const step = machine.runtime.install.find(({ when }) => when.every((name) => name in files));
  const values = { interpreter: machine.interpreter.path, runtime: machine.runtime.folder, deps };
  const [program, ...args] = expandCommand(step!.command, values);
  await run(program!, args, { cwd: deps, env: buildEnvironment(machine) });
  return deps;
}

async function answerWith(machine: Machine, files: Files, deps: string): Promise<unknown> {
  const replica = await startReplica(machine, await inlineImage(machine, files, { deps }));
  onTestFinished(() => killReplica(replica));
  return (await act(replica.origin, "")).json;
}

/** A package of the machine itself, so that no registry is needed. */
async function localNodePackage(): Promise<string> {
  const folder = join(await temporaryFolder(), "greeter");
  await writeFiles(folder, {
    "package.json": '{"name":"greeter","version":"1.0.0"}',
    "index.js": "exports.name = 'installed';",
  });
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: folder });
  return join(folder, stdout.trim());
}

async function localPythonPackage(): Promise<string> {
  const folder = join(await temporaryFolder(), "greeter");
  await writeFiles(folder, {
    "setup.py": "from setuptools import setup\nsetup(name='greeter', version='1.0', py_modules=['greeter'])",
    "greeter.py": "NAME = 'installed'",
  });
  return folder;
}

it("what requirements.txt names is installed and found", async () => {
  const python = await machineOf("python");
  const deps = await install(python, { "requirements.txt": `${await localPythonPackage()}\n` });
  const handler = { "handler.py": "import greeter\ndef handle(event): return {'name': greeter.NAME}\n" };
  expect(await answerWith(python, handler, deps)).toEqual({ name: "installed" });
});

it("an empty requirements.txt is no fault", async () => {
  const python = await machineOf("python");
  const deps = await install(python, { "requirements.txt": "\n# nothing\n" });
  expect(await answerWith(python, { "handler.py": "def handle(event): return {'ok': True}\n" }, deps)).toEqual({
    ok: true,
  });
});

it("what package.json names is installed and found by ES modules, development packages are not", async () => {
  const node = await machineOf("node");
  const dependencies = { greeter: `file:${await localNodePackage()}` };
  const manifest = JSON.stringify({
    type: "module",
    dependencies,
    devDependencies: { "not-there-at-all": "file:/not-there" },
  });
  const deps = await install(node, { "package.json": manifest, ".npmrc": "fund=false\n" });
  const handler = {
    "handler.js": "import greeter from 'greeter';\nexport const handle = () => greeter;\n",
    "package.json": manifest,
  };
  expect(await answerWith(node, handler, deps)).toEqual({ name: "installed" });
});

it("a lock file is followed", async () => {
  const node = await machineOf("node");
  const manifest = JSON.stringify({
    name: "fn",
    version: "1.0.0",
    dependencies: { greeter: `file:${await localNodePackage()}` },
  });
  const locked = join(await temporaryFolder(), "locked");
  await mkdir(locked);
  await writeFiles(locked, { "package.json": manifest });
  await run("npm", ["install", "--package-lock-only", "--ignore-scripts"], {
    cwd: locked,
    env: buildEnvironment(node),
  });
  const { readFile } = await import("node:fs/promises");
  const lock = await readFile(join(locked, "package-lock.json"), "utf8");
  const deps = await install(node, { "package.json": manifest, "package-lock.json": lock });
  await access(join(deps, "node_modules/greeter/index.js"));
  await expect(
    install(node, { "package.json": manifest.replace("greeter", "other"), "package-lock.json": lock }),
  ).rejects.toThrow(/npm ci/);
});

it("a package.json without dependencies is no fault", async () => {
  const node = await machineOf("node");
  const deps = await install(node, { "package.json": "{}" });
  expect(await answerWith(node, { "handler.js": "exports.handle = () => ({ ok: true });" }, deps)).toEqual({
    ok: true,
  });
});
