import { basename } from "node:path";
import { redactUrls } from "../../errors/index.ts";
import { findProgram, type LogFile, lastLines, type ProcessSupervisor, readOutput } from "../../processes/index.ts";
import { BuildFault } from "../build-fault.ts";

export interface BuildCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** For the message when the program is missing. */
  readonly runtime: { readonly name: string; readonly interpreter: { readonly install: string } };
}

export interface CommandDeps {
  readonly processes: ProcessSupervisor;
  readonly deadlineMs: number;
}

export type CommandEnd = { readonly ok: true } | { readonly ok: false; readonly cause: string; readonly tail: string };

/**
 * Runs a command to its end, its output in the log. At the deadline, and when `signal` aborts, it is killed with all
 * that it started.
 *
 * @throws BuildFault `toolchain_missing`, `build_timeout`; the signal's reason
 */
export async function runCommand(
  { command, cwd, env, runtime }: BuildCommand,
  log: LogFile,
  { processes, deadlineMs }: CommandDeps,
  signal: AbortSignal,
): Promise<CommandEnd> {
  signal.throwIfAborted();
  const [program = ""] = command;
  if (!findProgram(program, env.PATH ?? "")) {
    const install = runtime.interpreter.install;
    throw new BuildFault("toolchain_missing", { runtime: runtime.name, tool: program, install });
  }
  await log.append(Buffer.from(`$ ${command.map(quoted).join(" ")}\n`));
  const child = processes.spawn(command, { cwd, env });
  const kill = () => child.kill("SIGKILL");
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, deadlineMs);
  signal.addEventListener("abort", kill, { once: true });
  // It may have aborted while the log was written, which nobody hears of any more.
  if (signal.aborted) kill();
  const last = lastLines();
  await readOutput(child, async (lines) => {
    const clean = lines.map((line) => redactUrls(line.toString("utf8")));
    for (const line of clean) last.push(Buffer.from(line));
    await log.append(Buffer.from(clean.map((line) => `${line}\n`).join("")));
  });
  const exit = await child.exited;
  clearTimeout(timer);
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  if (late) throw new BuildFault("build_timeout", { seconds: deadlineMs / 1000 }, { tail: last.text() });
  if (exit.code === 0) return { ok: true };
  const how = exit.fault ?? (exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`);
  return { ok: false, cause: `${basename(program)} ended with ${how}`, tail: last.text() };
}

function quoted(part: string): string {
  const shown = redactUrls(part);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}
