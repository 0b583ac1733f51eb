import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expandCommand, expandEnv, type Interpreter, type Runtime } from "../../src/runtimes/index.ts";
import { eventually } from "../support/eventually.ts";
import { processesBelow } from "../support/process-tree.ts";
import { within } from "../support/within.ts";

/** A runtime with the interpreter of this machine that stands in for the one it names. */
export interface Machine {
  readonly runtime: Runtime;
  readonly interpreter: Interpreter;
}

/** What a builder makes: a folder with `source/` and, for compiled languages, the program. */
export interface Image {
  readonly folder: string;
  readonly source: string;
  readonly deps?: string;
}

export interface Replica {
  readonly process: ChildProcess;
  readonly origin: string;
  readonly port: number;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  /** Waits for its end and that of its output; its code or signal. */
  exited(): Promise<number | NodeJS.Signals>;
  /** Closes the parent's end of the pipe that it watches. */
  orphan(): void;
}

/** Starts a runtime's own start command, and nothing else of the environment than its contract. */
export function spawnRuntime(
  machine: Machine,
  image: Image,
  env: Record<string, string>,
): Omit<Replica, "origin" | "port"> {
  const values = {
    interpreter: machine.interpreter.path,
    runtime: machine.runtime.folder,
    source: image.source,
    deps: image.deps ?? "",
    out: image.folder,
  };
  const [program, ...args] = expandCommand(machine.runtime.start.command, values);
  const child = spawn(program!, args, {
    cwd: image.source,
    env: {
      PATH: "/usr/bin:/bin",
      ...expandEnv(machine.runtime.start.env, values),
      PORT: "0",
      SLESS_HOST: "127.0.0.1",
      SLESS_SOURCE: image.source,
      SLESS_ENTRYPOINT: "handler.handle",
      SLESS_FUNCTION: "hello",
      SLESS_NAMESPACE: "default",
      SLESS_MEMORY_MB: "128",
      SLESS_NOTIFY_FD: "3",
      SLESS_PARENT_FD: "4",
      ...(image.deps !== undefined && { SLESS_DEPS: image.deps }),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  const stdout = collect(child.stdout!);
  const stderr = collect(child.stderr!);
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal!));
  });
  ended.catch(() => undefined); // whoever asks is told
  const tell = () => `its processes\n${processesBelow(child.pid ?? 0)}\nit wrote\n${stdout()}\n${stderr()}`;
  return {
    process: child,
    stdout,
    stderr,
    exited: () => within(`the end of ${child.spawnargs.join(" ")}`, ended, tell),
    orphan: () => child.stdio[4]!.destroy(),
  };
}

function collect(stream: Readable): () => string {
  let all = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    all += chunk;
  });
  return () => all;
}

/** Starts a replica and waits until it listens. */
export async function startReplica(machine: Machine, image: Image, env: Record<string, string> = {}): Promise<Replica> {
  const started = spawnRuntime(machine, image, env);
  const told = await within("it listens", text(started.process.stdio[3] as Readable), started.stderr);
  const port = Number(/^sless-listening (\d+)\n$/.exec(told)?.[1]);
  if (!port) throw new Error(`it does not listen: ${told}\n${started.stderr()}`);
  return { ...started, port, origin: `http://127.0.0.1:${port}` };
}

/** Ends a replica with all that it started; harmless when it has ended. */
export async function killReplica(replica: Pick<Replica, "process" | "exited">): Promise<void> {
  try {
    process.kill(-replica.process.pid!, "SIGKILL");
  } catch {
    // it has ended
  }
  await replica.exited().catch(() => undefined);
}

/** Waits until the replica has written this. */
export async function hasWritten(read: () => string, what: string): Promise<void> {
  await eventually(`the log holds ${what}`, read, (log) => log.includes(what));
}
