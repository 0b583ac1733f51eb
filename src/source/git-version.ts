import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { gitEnvironment } from "./git-environment.ts";

const execFileAsync = promisify(execFile);
const START_MAX_MS = 5_000;

/** Whether this git runs and is at least of a version. */
export async function isGitSince(git: string, major: number, minor: number): Promise<boolean> {
  try {
    const { stdout } = await execFileAsync(git, ["version"], { env: gitEnvironment(git), timeout: START_MAX_MS });
    const [, ofGit = 0, minorOfGit = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
    return ofGit > major || (ofGit === major && minorOfGit >= minor);
  } catch {
    return false;
  }
}
