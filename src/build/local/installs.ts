import { randomUUID } from "node:crypto";
import { copyFile, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../controller/clock.ts";
import { type LogFile, logFile } from "../../processes/index.ts";
import { expandCommand, type Interpreter, type Runtime } from "../../runtimes/index.ts";
import { BuildFault, toBuildFault } from "../build-fault.ts";
import type { CommandSlots } from "../command-slots.ts";
import { retryDelayMs } from "../retry-delay.ts";
import { buildEnvironment, type EnvironmentOptions } from "./build-environment.ts";
import type { Dependencies } from "./build-keys.ts";
import { type CommandDeps, runCommand } from "./run-command.ts";

const LOG_MAX_BYTES = 10 * 1024 * 1024;

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
   * Installs them unless they are there; whoever wants the same meanwhile waits for the same installation, and gets
   * its output. It is ended when nobody waits for it any more.
   *
   * @returns the folder
   * @throws BuildFault; the signal's reason
   */
  provide(wanted: InstallWanted, log: LogFile, signal: AbortSignal): Promise<string>;
  folderOf(key: string): string;
}

interface InstallsOptions extends CommandDeps, EnvironmentOptions {
  readonly clock: Clock;
  readonly slots: CommandSlots;
}

interface Install {
  readonly done: Promise<void>;
  readonly stop: AbortController;
  readonly log: LogFile;
  users: number;
}

interface Failure {
  readonly fault: BuildFault;
  readonly count: number;
  readonly retryAt: number;
}

export function openInstalls(options: InstallsOptions): Installs {
  const { folder, clock } = options;
  const active = new Map<string, Install>();
  const failures = new Map<string, Failure>();
  const folderOf = (key: string) => join(folder, "deps", key);

  function remember(key: string, fault: BuildFault): void {
    const count = (failures.get(key)?.count ?? 0) + 1;
    failures.set(key, { fault, count, retryAt: clock.now().getTime() + retryDelayMs(count, fault.code) });
  }

  function start(wanted: InstallWanted): Install {
    const { key } = wanted.dependencies;
    const stop = new AbortController();
    const log = logFile(join(folder, "tmp", `deps-${key}.log`), { maxBytes: LOG_MAX_BYTES, whenFull: "stop" });
    const done = log
      .clear()
      .then(() => install(wanted, folderOf(key), log, { ...options, signal: stop.signal }))
      .then(() => void failures.delete(key))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) remember(key, toBuildFault(error));
        throw error;
      })
      .finally(() => active.delete(key));
    done.catch(() => undefined); // told to those who wait
    const started = { done, stop, log, users: 0 };
    active.set(key, started);
    return started;
  }

  return {
    folderOf,
    async provide(wanted, log, signal) {
      const { key } = wanted.dependencies;
      if (!active.has(key) && (await isFolder(folderOf(key)))) return folderOf(key);
      const failure = failures.get(key);
      if (failure && !active.has(key) && clock.now().getTime() < failure.retryAt) throw failure.fault;
      signal.throwIfAborted();
      const shared = active.get(key) ?? start(wanted);
      shared.users++;
      try {
        await copyOutput(shared.log, log, signal);
        await Promise.race([shared.done, abortOf(signal)]);
        return folderOf(key);
      } finally {
        shared.users--;
        if (shared.users === 0) {
          shared.stop.abort(new Error("nobody waits for it"));
          await shared.done.catch(() => undefined);
          await shared.log.clear();
        }
      }
    },
  };
}

/** Installs into a draft, which gets its name when it is complete. The log ends with it. */
async function install(
  wanted: InstallWanted,
  target: string,
  log: LogFile,
  options: InstallsOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const draft = join(options.folder, "tmp", `deps-${randomUUID()}`);
  try {
    if (await isFolder(target)) return;
    await prepareDraft(draft, wanted);
    await runInstall(draft, wanted, log, options);
    await mkdir(dirname(target), { recursive: true });
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
    await rm(`${draft}.tmp`, { recursive: true, force: true });
    await log.finish();
  }
}

async function runInstall(
  draft: string,
  { dependencies, runtime, interpreter }: InstallWanted,
  log: LogFile,
  options: InstallsOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const placeholders = { interpreter: interpreter.path, runtime: runtime.folder, deps: draft };
  const command = expandCommand(dependencies.command, placeholders);
  const env = buildEnvironment(runtime, interpreter, `${draft}.tmp`, options);
  const { slots, signal } = options;
  const end = await slots.run(signal, () => runCommand({ command, cwd: draft, env, runtime }, log, options, signal));
  if (end.ok) return;
  const file = dependencies.files.join(", ");
  throw new BuildFault("dependencies_failed", { cause: end.cause, file }, { tail: end.tail });
}

/** Follows the output to its end: the installation is over then, or the signal aborted. */
async function copyOutput(from: LogFile, to: LogFile, signal: AbortSignal): Promise<void> {
  for await (const chunk of from.read({ follow: true, signal })) await to.append(chunk);
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** The folder holds the dependency files and nothing else. */
async function prepareDraft(draft: string, { dependencies, source }: InstallWanted): Promise<void> {
  await mkdir(draft, { recursive: true });
  await mkdir(`${draft}.tmp`);
  for (const name of dependencies.files) await copyFile(join(source, name), join(draft, name));
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
