import { join } from "node:path";
import { SlessError } from "../../errors/index.ts";
import { type GitDirectory, textOf } from "../git-directory.ts";

/**
 * Refuses what isomorphic-git would read wrongly or not at all.
 *
 * @throws SlessError `repository_unsupported` for linked worktrees, alternates and object formats other than sha1
 */
export async function checkSupported(place: GitDirectory): Promise<void> {
  const refuse = (cause: string) => {
    throw new SlessError("repository_unsupported", { url: place.repository, cause });
  };
  if (place.gitDir !== place.commonDir) refuse("it is a linked worktree");
  const alternates = await textOf(join(place.commonDir, "objects", "info", "alternates"));
  if (alternates?.trim()) refuse("it borrows objects of another repository (alternates)");
  const format = /^\s*objectformat\s*=\s*(\S+)/im.exec((await textOf(join(place.commonDir, "config"))) ?? "")?.[1];
  if (format !== undefined && format.toLowerCase() !== "sha1") refuse(`its objects are named by ${format}`);
}
