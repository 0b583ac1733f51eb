import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface ProcessTime {
  /** From before the start to after the end, milliseconds. */
  readonly wallMs: number;
  /** User time of the process and of all children that it waited for, milliseconds. */
  readonly userMs: number;
}

export interface TimedRun {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Exit codes that are no failure. */
  readonly codes: readonly number[];
}

// A shell's `times` knows the processor time of all that it waited for, which Node tells of itself alone.
const TIMED = '"$0" "$@" >/dev/null; code=$?; times; exit $code';

/** Runs a command to its end, its output dropped. */
export async function timeProcess({ command, env, codes }: TimedRun): Promise<ProcessTime> {
  const startedMs = performance.now();
  const child = spawn("/bin/sh", ["-c", TIMED, ...command], {
    env: { ...env, LC_ALL: "C" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const wallMs = performance.now() - startedMs;
  if (!codes.includes(code)) throw new Error(`${command.join(" ")} ended with ${code}`);
  return { wallMs, userMs: childrenUserMs(output) };
}

/** The second line of `times`: user and system time of the children, `0m1.23s 0m0.04s`. */
function childrenUserMs(times: string): number {
  const match = /^(\d+)m([\d.]+)s/.exec(times.trimEnd().split("\n")[1] ?? "");
  if (!match) throw new Error(`the shell's times are not understood: ${times}`);
  return (Number(match[1]) * 60 + Number(match[2])) * 1000;
}
