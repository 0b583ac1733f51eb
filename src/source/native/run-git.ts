import { execFile } from "node:child_process";
import { parse } from "node:path";
import { gitEnvironment } from "../git-environment.ts";

const OUTPUT_MAX_BYTES = 1 << 20;

export interface GitRun {
  /** Undefined when a signal or the time limit ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one short git command on a repository; a failure is a result. Arguments must be checked before. */
export async function runGit(git: string, gitDir: string, args: readonly string[], maxMs: number): Promise<GitRun> {
  const options = {
    cwd: parse(gitDir).root,
    env: gitEnvironment(git),
    timeout: maxMs,
    killSignal: "SIGKILL",
    maxBuffer: OUTPUT_MAX_BYTES,
  } as const;
  return new Promise((resolve) => {
    execFile(git, [`--git-dir=${gitDir}`, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : undefined;
      resolve({ code, stdout: stdout.trim(), stderr: stderr.trim() || (error?.message ?? "") });
    });
  });
}
