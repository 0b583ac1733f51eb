import { execFile } from "node:child_process";
import { cp, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expandCommand, findInterpreter, loadRuntimes } from "../../src/runtimes/index.ts";
import { removeFolder } from "../support/remove-folder.ts";
import type { Image, Machine } from "./replica.ts";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
const FIXTURES = join(ROOT, "test/fixtures/handlers");

/**
 * Every runtime of `runtimes/` with the interpreter of this machine that serves it, outside the project. Of the runtimes
 * of a language one must be servable; another may want more than is there.
 */
export async function allMachines(): Promise<Machine[]> {
  const runtimes = [...(await loadRuntimes(join(ROOT, "runtimes"))).values()];
  const search = { path: process.env.PATH ?? "", excluded: [join(ROOT, "node_modules")] };
  const found = await Promise.all(
    runtimes.map(async (runtime) => ({ runtime, interpreter: await findInterpreter(runtime, search) })),
  );
  const machines = found.filter((machine): machine is Machine => machine.interpreter !== undefined);
  for (const { language, name, interpreter } of runtimes)
    if (!machines.some(({ runtime }) => runtime.language === language))
      throw new Error(`${name} needs an interpreter on this machine: ${interpreter.install}`);
  return machines;
}

/** The oldest runtime of a language. */
export async function machineOf(language: string): Promise<Machine> {
  const machine = (await allMachines()).find(({ runtime }) => runtime.language === language);
  if (!machine) throw new Error(`no runtime for ${language}`);
  return machine;
}

/** The folder of a fixture's source in the machine's language. */
export function fixture(machine: Machine, name: string): string {
  return join(FIXTURES, machine.runtime.language, name);
}

/** An empty folder for images, and what removes it. */
export async function imageFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "sless-images-"));
  return { folder, remove: () => removeFolder(folder) };
}

/** Environment of builds: the machine's caches, nothing of this process otherwise. */
export function buildEnvironment(machine: Machine, more: Record<string, string> = {}): Record<string, string> {
  const kept = ["GOPROXY", "GOCACHE", "GOMODCACHE", "GOFLAGS", "SSL_CERT_FILE", "HTTPS_PROXY", "NO_PROXY"];
  const inherited = kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]!]]));
  return {
    PATH: `${resolve(machine.interpreter.path, "..")}:/usr/bin:/bin`,
    HOME: homedir(),
    ...Object.fromEntries(inherited),
    ...machine.runtime.buildEnv,
    ...more,
  };
}

/** Makes an image of a source as a builder does. Fails with the build's output. */
export async function buildImage(
  machine: Machine,
  options: { source: string; folder: string; entrypoint?: string; deps?: string; env?: Record<string, string> },
): Promise<Image> {
  const { folder, deps, entrypoint = "handler.handle" } = options;
  const source = join(folder, "source");
  await cp(options.source, source, { recursive: true });
  for (const [name, text] of Object.entries(machine.runtime.imageFiles ?? {}))
    await writeFile(join(folder, name), text);
  // ES modules look for packages beside the real folder of the source.
  if (machine.runtime.linkDeps && deps)
    await symlink(join(deps, machine.runtime.linkDeps), join(folder, machine.runtime.linkDeps));
  if (machine.runtime.build) {
    const values = {
      interpreter: machine.interpreter.path,
      runtime: machine.runtime.folder,
      source,
      out: folder,
      entrypoint,
    };
    const [program, ...args] = expandCommand(machine.runtime.build.command, values);
    await run(program!, args, { cwd: source, env: buildEnvironment(machine, options.env) }).catch(
      (error: { stderr: string }) => {
        throw new Error(error.stderr);
      },
    );
  }
  return { folder, source, ...(deps !== undefined && { deps }) };
}
