import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { gitEnvironment } from "./git-environment.ts";

const execFileAsync = promisify(execFile);
const START_MAX_MS = 5_000;
/** `--end-of-options` and what else is asked of it. */
const OLDEST = [2, 25] as const;

/**
 * The absolute path of a git that runs and is new enough (2.25), looked for in a PATH value; undefined without one.
 * Relative entries of the PATH are passed over: they would run what lies in the current folder.
 */
export async function findGit(path: string | undefined): Promise<string | undefined> {
  const name = process.platform === "win32" ? "git.exe" : "git";
  for (const folder of (path ?? "").split(delimiter).filter(isAbsolute)) {
    const git = join(folder, name);
    if ((await isExecutable(git)) && (await isNewEnough(git))) return git;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function isNewEnough(git: string): Promise<boolean> {
  try {
    const { stdout } = await execFileAsync(git, ["version"], { env: gitEnvironment(git), timeout: START_MAX_MS });
    const [, major, minor] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
    if (major === undefined || minor === undefined) return false;
    return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  } catch {
    return false;
  }
}
