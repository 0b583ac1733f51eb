import type { GitReader } from "../source/index.ts";
import { openIsomorphicReader } from "../source/isomorphic/index.ts";
import { openNativeReader } from "../source/native/index.ts";

/**
 * Opens a local repository in place: with git where it is (`findGit`), else with isomorphic-git.
 *
 * @throws SlessError `repository_unreachable`, `repository_unsupported`
 */
export function openLocalReader(options: {
  readonly repository: string;
  readonly git: string | undefined;
}): Promise<GitReader> {
  const { repository, git } = options;
  return git === undefined ? openIsomorphicReader({ repository }) : openNativeReader({ repository, git });
}
