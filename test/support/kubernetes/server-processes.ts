import { createWriteStream } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Exit, openProcessSupervisor, type SupervisedProcess } from "../../../src/processes/index.ts";
import { processesBelow } from "../process-tree.ts";
import { within } from "../within.ts";

const LOG_LINES_SHOWN = 15;

/** A server that may be started and stopped again, one process at a time. */
export interface ServerProcess {
  start(): void;
  /** Resolves when the process is gone; at once when there is none. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

export interface ServerProcesses {
  /** What it writes goes to `<folder>/<name>.log`. */
  server(name: string, program: string, args: readonly string[]): ServerProcess;
  /** @throws Error with the end of its log, when one that was started has ended by itself */
  check(): Promise<void>;
  /** Kills them all. */
  close(): Promise<void>;
}

/** Servers that end with this process, in whatever way it ends. */
export async function openServerProcesses(folder: string): Promise<ServerProcesses> {
  const records = join(folder, "processes");
  await mkdir(records);
  const supervisor = await openProcessSupervisor({ folder: records });
  const checks: (() => Promise<void>)[] = [];
  // Their caches and home folders too stay below the folder.
  const env = { PATH: process.env.PATH ?? "", HOME: folder, TMPDIR: folder };

  function server(name: string, program: string, args: readonly string[]): ServerProcess {
    const logFile = join(folder, `${name}.log`);
    let child: SupervisedProcess | undefined;
    let exit: Exit | undefined;
    checks.push(async () => {
      if (!exit) return;
      const lines = (await readFile(logFile, "utf8").catch(() => "")).trim().split("\n").slice(-LOG_LINES_SHOWN);
      throw new Error(`${name} ended with ${exit.fault ?? exit.signal ?? exit.code}:\n${lines.join("\n")}`);
    });
    return {
      start() {
        const started = supervisor.spawn([program, ...args], { cwd: folder, env });
        child = started;
        exit = undefined;
        const log = createWriteStream(logFile, { flags: "a" }).on("error", () => undefined);
        started.stdout.pipe(log, { end: false });
        started.stderr.pipe(log, { end: false });
        void started.exited.then((seen) => {
          log.end();
          if (child === started) exit = seen;
        });
      },
      async stop(signal) {
        const stopped = child;
        child = undefined;
        stopped?.kill(signal);
        const tell = () => processesBelow(process.pid);
        if (stopped) await within(`the end of ${name} by ${signal}`, stopped.exited, tell);
      },
    };
  }

  return {
    server,
    async check() {
      for (const check of checks) await check();
    },
    close: () => supervisor.close(),
  };
}
