import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { isGitSince } from "./git-version.ts";

/** Older ones are not tried. */
const OLDEST = [2, 25] as const;

/**
 * The absolute path of a git that runs and is new enough (2.25), looked for in a PATH value; undefined without one.
 * Relative entries of the PATH are passed over: they would run what lies in the current folder.
 */
export async function findGit(path: string | undefined): Promise<string | undefined> {
  const name = process.platform === "win32" ? "git.exe" : "git";
  for (const folder of (path ?? "").split(delimiter).filter(isAbsolute)) {
    const git = join(folder, name);
    if ((await isExecutable(git)) && (await isGitSince(git, ...OLDEST))) return git;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
