import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type LineLog, openLineLog } from "./line-log.ts";

const SLESS = join(import.meta.dirname, "../src/app/sless.ts");

/** A running `sless dev`, a process of its own. */
export interface DevServer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** What it says to its user. */
  readonly output: LineLog;
  /** Its log, a JSON text a line, at level debug. */
  readonly log: LineLog;
  /** Milliseconds from the start of the process until everything had come to an end. */
  readonly settledMs: number;
}

export interface DevOptions {
  readonly repository: string;
  readonly data: string;
}

/** Starts it, with the Node options of the benchmark itself, and waits until every function has come to an end. */
export async function startDevServer({ repository, data }: DevOptions): Promise<DevServer> {
  const startedMs = performance.now();
  const port = await freePort();
  const args = ["dev", "--repo", repository, "--ref", "main", "--data", data, "--port", String(port)];
  const child = spawn(process.execPath, [...process.execArgv, SLESS, ...args], {
    env: { ...process.env, LOG_LEVEL: "debug", LOG_FORMAT: "json", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = openLineLog(child.stdout);
  const log = openLineLog(child.stderr);
  const exited = once(child, "exit");
  const dispose = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  try {
    await output.find("the table of functions", (line) => (/^Try next:|^Call one:/.test(line) ? line : undefined));
  } catch (error) {
    await dispose();
    throw error;
  }
  const settledMs = performance.now() - startedMs;
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, output, log, settledMs, [Symbol.asyncDispose]: dispose };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** A line of progress: what it is about, and the milliseconds of each step. */
export interface Chain {
  readonly title: string;
  readonly steps: Readonly<Record<string, number>>;
}

/** `hello  fetched 3ms → planned 5ms → stored 2ms`; undefined for other lines. */
export function chainOf(line: string): Chain | undefined {
  const [, title, rest] = /^(\S+) {2}(\w+ [\dms.]+.*)$/.exec(stripVTControlCharacters(line)) ?? [];
  if (title === undefined || rest === undefined) return undefined;
  const steps = rest.matchAll(/(\w+) (?:(\d+)m)?([\d.]+)(ms|s)(?= |$)/g);
  return {
    title,
    steps: Object.fromEntries(
      Array.from(steps, ([, name, minutes, amount, unit]) => [
        name!,
        Number(minutes ?? 0) * 60_000 + Number(amount) * (unit === "s" ? 1000 : 1),
      ]),
    ),
  };
}

/** Milliseconds of one run of the sync controller; undefined for other lines of the log. */
export function syncRunOf(line: string): number | undefined {
  if (!line.includes('"sync"')) return undefined;
  const entry = JSON.parse(line) as { controller?: string; msg?: string; durationMs?: number };
  return entry.controller === "sync" && entry.msg === "reconciled" ? entry.durationMs : undefined;
}
