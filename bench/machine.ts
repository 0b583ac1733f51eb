import { execFile } from "node:child_process";
import { cpus, loadavg, platform, release, totalmem } from "node:os";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What the figures depend on, beside the code. */
export interface Machine {
  readonly system: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly node: string;
  readonly git: string;
  readonly python: string;
  /** Node of the functions: the machine's own, not the one that sless runs on. */
  readonly functionNode: string;
  /** Processes that wanted a core in the last minute, before anything was measured. */
  readonly load: number;
}

/** @param interpreters what functions run on, by runtime name */
export async function describeMachine(interpreters: Readonly<Record<string, string>>): Promise<Machine> {
  const processors = cpus();
  return {
    system: `${platform()} ${/^[\d.]+/.exec(release())?.[0] ?? ""}`,
    processor: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryGB: Math.round(totalmem() / 1024 ** 3),
    node: process.versions.node,
    git: await versionOf("git"),
    python: interpreters["python3.11"] ?? "none",
    functionNode: interpreters.nodejs20 ?? "none",
    load: loadavg()[0]!,
  };
}

async function versionOf(program: string): Promise<string> {
  const { stdout } = await run(program, ["--version"]).catch(() => ({ stdout: "none" }));
  return /\d[\w.]*/.exec(stdout)?.[0] ?? "none";
}
