import { randomUUID } from "node:crypto";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../controller/clock.ts";
import { expandCommand, type Interpreter, type Runtime } from "../../runtimes/index.ts";
import { BuildFault } from "../build-fault.ts";
import type { CommandSlots } from "../command-slots.ts";
import { openSharedRuns, type RunContext, type RunUser } from "../shared-runs.ts";
import { buildEnvironment, type EnvironmentOptions } from "./build-environment.ts";
import type { Dependencies } from "./build-keys.ts";
import { type FolderChecks, sealFolder } from "./folder-checks.ts";
import { replaceFolder } from "./replace-folder.ts";
import { type CommandDeps, runCommand } from "./run-command.ts";

export interface InstallWanted {
  readonly dependencies: Dependencies;
  /** The unpacked source that holds the dependency files. */
  readonly source: string;
  readonly runtime: Runtime;
  readonly interpreter: Interpreter;
}

/** Installed dependencies, a folder per key, shared by every image that wants them. */
export interface Installs {
  /**
   * Installs them unless they are there and whole; whoever wants the same meanwhile waits for the same installation, and gets
   * its output. It is ended when nobody waits for it any more.
   *
   * @returns the folder
   * @throws BuildFault; the signal's reason
   */
  provide(wanted: InstallWanted, user: RunUser): Promise<string>;
}

/** Where the dependencies of a key are installed. */
export function dependenciesFolder(folder: string, key: string): string {
  return join(folder, "deps", key);
}

interface InstallsOptions extends CommandDeps, EnvironmentOptions {
  readonly checks: FolderChecks;
  readonly clock: Clock;
  readonly slots: CommandSlots;
}

export function openInstalls(options: InstallsOptions): Installs {
  const { folder, clock, checks } = options;
  const folderOf = (key: string) => dependenciesFolder(folder, key);
  const runs = openSharedRuns<InstallWanted, void>({
    folder: join(folder, "tmp"),
    clock,
    run: (key, wanted, context) => install(wanted, folderOf(key), context, options),
  });
  return {
    async provide(wanted, user) {
      const { key } = wanted.dependencies;
      if (runs.isRunning(key) || (await checks.damage(folderOf(key))) !== undefined)
        await runs.provide(key, wanted, user);
      return folderOf(key);
    },
  };
}

/** Installs into a draft, which gets its name when it is complete. */
async function install(
  wanted: InstallWanted,
  target: string,
  context: RunContext,
  options: InstallsOptions,
): Promise<void> {
  const draft = join(options.folder, "tmp", `deps-${randomUUID()}`);
  try {
    if ((await options.checks.damage(target)) === undefined) return;
    await prepareDraft(draft, wanted);
    await runInstall(draft, wanted, context, options);
    await sealFolder(draft);
    await mkdir(dirname(target), { recursive: true });
    await replaceFolder(draft, target, `${draft}.old`);
    options.checks.forget(target);
  } finally {
    await rm(draft, { recursive: true, force: true });
    for (const left of [`${draft}.tmp`, `${draft}.old`]) await rm(left, { recursive: true, force: true });
  }
}

async function runInstall(
  draft: string,
  { dependencies, runtime, interpreter }: InstallWanted,
  { log, signal }: RunContext,
  options: InstallsOptions,
): Promise<void> {
  const placeholders = { interpreter: interpreter.path, runtime: runtime.folder, deps: draft };
  const command = expandCommand(dependencies.command, placeholders);
  const env = buildEnvironment(runtime, interpreter, `${draft}.tmp`, options);
  const { slots } = options;
  const end = await slots.run(signal, () => runCommand({ command, cwd: draft, env, runtime }, log, options, signal));
  if (end.ok) return;
  const file = dependencies.files.join(", ");
  throw new BuildFault("dependencies_failed", { cause: end.cause, file }, { tail: end.tail });
}

/** The folder holds the dependency files and nothing else. */
async function prepareDraft(draft: string, { dependencies, source }: InstallWanted): Promise<void> {
  await mkdir(draft, { recursive: true });
  await mkdir(`${draft}.tmp`);
  for (const name of dependencies.files) await copyFile(join(source, name), join(draft, name));
}
