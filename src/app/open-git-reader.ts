import type { GitReader } from "../source/index.ts";

/**
 * Opens a local repository in place: with git where it is (`findGit`), else with isomorphic-git. Only the one that is
 * used is loaded: isomorphic-git alone is a good part of the start of a short command.
 *
 * @throws SlessError `repository_unreachable`, `repository_unsupported`
 */
export async function openLocalReader(options: {
  readonly repository: string;
  readonly git: string | undefined;
}): Promise<GitReader> {
  const { repository, git } = options;
  if (git === undefined) return (await import("../source/isomorphic/index.ts")).openIsomorphicReader({ repository });
  return (await import("../source/native/index.ts")).openNativeReader({ repository, git });
}
