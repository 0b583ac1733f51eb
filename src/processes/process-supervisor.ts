import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { messageOf, SlessError } from "../errors/index.ts";
import { findProgram } from "./find-program.ts";
import { MARK_VARIABLE, type MarkedProcesses, openMarkedProcesses, sweepMarked } from "./marked-processes.ts";
import { type MemoryWatch, openMemoryWatch } from "./memory-watch.ts";
import { openProcessRecords, signalGroup, sweepProcesses } from "./process-records.ts";
import { startReaper } from "./reaper.ts";

/** Descriptor on which a child may tell something to `notify`. */
export const NOTIFY_FD = 3;
/** Descriptor that a child reads to its end: the end means that its parent is gone. */
export const PARENT_FD = 4;

// The child waits until it is recorded and known to the reaper: were we killed in between, it reads the end and goes.
const GATE = `IFS= read -r go <&${PARENT_FD} || exit 125; exec "$@"`;
const CLOSE_WAIT_MS = 2_000;
const OUTPUT_WAIT_MS = 1_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The system could not start it at all. */
  readonly fault?: string;
  /** It was killed because its group held so much memory, more than it may. */
  readonly exceededBytes?: number;
}

/** A child process that leads a group of its own. Its output must be read, or it stops when the pipes are full. */
export interface SupervisedProcess {
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What the child writes to NOTIFY_FD; ended at once when that was not asked for. */
  readonly notify: Readable | undefined;
  /** Never rejects. The whole group is dead by then; what left it is killed at once after. */
  readonly exited: Promise<Exit>;
  /** Signals the whole group; nothing happens when it is gone. */
  kill(signal: NodeJS.Signals): void;
}

export interface SpawnOptions {
  readonly cwd: string;
  /** The whole environment but for `SLESS_PROCESS`, by which its descendants are found: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly notify?: boolean;
  /** Memory that the process and what it starts may hold together; beyond it all of them are killed. Default: no limit. */
  readonly memoryBytes?: number;
}

export interface ProcessSupervisor {
  /** @throws SlessError `internal` when the program is not there or the supervisor is closed */
  spawn(command: readonly string[], options: SpawnOptions): SupervisedProcess;
  /** Kills every child with its descendants. */
  close(): Promise<void>;
}

/**
 * Starts processes that never outlive this one, whatever ends it. Three layers: every child holds PARENT_FD, whose end
 * it may watch; a reaper kills the groups when our pipe to it closes; and what both missed is killed here, by its
 * record in `folder`, before anything new starts. On Linux each layer, and the end of a child, also kills descendants
 * that left the group (see `MarkedProcesses`); elsewhere those that did live on.
 */
export async function openProcessSupervisor(options: { folder: string }): Promise<ProcessSupervisor> {
  const records = openProcessRecords(options.folder);
  await sweepProcesses(options.folder);
  await sweepMarked(options.folder);
  const marked = openMarkedProcesses(options.folder);
  const reaper = startReaper(marked.life);
  const memory = openMemoryWatch();
  const running = new Set<SupervisedProcess>();
  let closed = false;

  function register(pid: number): void {
    records.add(pid);
    reaper.watch(pid);
  }
  function forget(pid: number): void {
    reaper.forget(pid);
    records.remove(pid);
  }

  return {
    spawn(command, spawnOptions) {
      if (closed) throw new SlessError("internal", { cause: "it is shutting down" });
      const started = startProcess(command, spawnOptions, { register, forget, memory, marked });
      running.add(started);
      void started.exited.then(() => running.delete(started));
      return started;
    },
    async close() {
      closed = true;
      const left = [...running];
      for (const child of left) child.kill("SIGKILL");
      const over = new AbortController();
      const limit = setTimeout(CLOSE_WAIT_MS, undefined, { signal: over.signal }).catch(() => undefined);
      await Promise.race([Promise.all(left.map((child) => child.exited)), limit]);
      over.abort();
      await marked.close();
      await reaper.close();
    },
  };
}

interface Records {
  register(pid: number): void;
  forget(pid: number): void;
  readonly memory: MemoryWatch;
  readonly marked: MarkedProcesses;
}

function startProcess(
  command: readonly string[],
  options: SpawnOptions,
  { register, forget, memory, marked }: Records,
): SupervisedProcess {
  const [name = "", ...args] = command;
  const program = findProgram(name, options.env.PATH ?? "");
  if (!program) throw new SlessError("internal", { cause: `${name} is not on this machine` });
  const mark = marked.next();
  const child = spawn("/bin/sh", ["-c", GATE, "sh", program, ...args], {
    cwd: options.cwd,
    env: { ...options.env, [MARK_VARIABLE]: mark },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", options.notify ? "pipe" : "ignore", "pipe"],
  });
  const limit = limitMemory(child, options.memoryBytes, memory);
  const exited = exitOf(child, forget).then((exit) => ({ ...exit, ...limit.end() }));
  void exited.then(() => marked.kill(mark)); // not waited for: who hears of the end late calls a dead replica
  const gate = child.stdio[PARENT_FD] as Writable;
  gate.on("error", () => undefined); // EPIPE of a child that is gone
  if (child.pid !== undefined) {
    register(child.pid);
    gate.write("go\n");
  }
  return {
    pid: child.pid,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    notify: options.notify ? (child.stdio[NOTIFY_FD] as Readable) : undefined,
    exited,
    kill: (signal) => {
      if (isRunning(child)) signalGroup(child.pid!, signal);
    },
  };
}

/** Kills the group when it holds too much; `end` tells whether that was so. */
function limitMemory(
  child: ChildProcess,
  memoryBytes: number | undefined,
  memory: MemoryWatch,
): { end(): Pick<Exit, "exceededBytes"> } {
  if (memoryBytes === undefined || child.pid === undefined) return { end: () => ({}) };
  let exceededBytes: number | undefined;
  const stop = memory.watch(child.pid, memoryBytes, (usedBytes) => {
    if (!isRunning(child)) return;
    exceededBytes = usedBytes;
    signalGroup(child.pid!, "SIGKILL");
  });
  return {
    end() {
      stop();
      return exceededBytes === undefined ? {} : { exceededBytes };
    },
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function exitOf(child: ChildProcess, forget: (pid: number) => void): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, fault: messageOf(error) });
    });
    child.once("exit", (code, signal) => {
      signalGroup(child.pid!, "SIGKILL"); // what it started itself
      forget(child.pid!);
      endOutput(child);
      resolve({ code, signal });
    });
  });
}

/** A descendant that left the group may hold the pipes for ever: whoever reads them is let go. */
function endOutput(child: ChildProcess): void {
  const streams = child.stdio.filter((stream) => stream !== null && stream !== undefined);
  const timer = globalThis.setTimeout(() => {
    for (const stream of streams) stream.destroy();
  }, OUTPUT_WAIT_MS);
  timer.unref();
  child.once("close", () => clearTimeout(timer));
}
