import { isSlessError, SlessError } from "../errors/index.ts";
import type { GitReader, Resolved } from "../source/index.ts";
import { isShallow } from "./find-repository.ts";

/** What a commit that is not there may need, beside being spelled right; continuous integration clones without history. */
export async function historyHint(repository: string): Promise<string> {
  return (await isShallow(repository)) ? "; this clone is shallow: `git fetch --unshallow` brings what it lacks" : "";
}

/**
 * The error of a verb that was given a commit or a folder: nobody at a command line has a spec to correct, so that one
 * which is not there was mistyped. Others stay as they are.
 */
export async function mistyped(error: unknown, repository: string, verb: string): Promise<unknown> {
  const isRef = isSlessError(error, "ref_not_found");
  if (!isRef && !isSlessError(error, "path_not_found")) return error;
  const hint = isRef ? await historyHint(repository) : "";
  const cause = `${error.happened.replace(/\.$/, "")}${hint}`;
  return new SlessError("usage_invalid", { cause, verb }, { cause: error });
}

/** The commit that a command line names. @throws as `mistyped` */
export async function headOf(git: GitReader, head: string, repository: string, verb: string): Promise<Resolved> {
  try {
    return await git.resolveExpression(head);
  } catch (error) {
    throw await mistyped(error, repository, verb);
  }
}
