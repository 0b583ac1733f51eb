import { SlessError } from "../errors/index.ts";
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

/**
 * Opens the work tree of a repository, edits that are not committed included; they are looked at when it is resolved.
 *
 * @throws SlessError `repository_unsupported` without git
 */
export async function openLocalWorktree({ folder, git }: { folder: string; git: string | undefined }) {
  const needed = gitForWorktree(folder, git);
  const { openWorktree, openWorktreeReader } = await import("../source/worktree/index.ts");
  const worktree = openWorktree({ folder, git: needed });
  const reader = openWorktreeReader({ worktree, repository: await openLocalReader({ repository: folder, git }) });
  return {
    ...reader,
    async close() {
      await reader.close();
      await worktree.close();
    },
  };
}

/** @throws SlessError `repository_unsupported` without git */
export function gitForWorktree(folder: string, git: string | undefined): string {
  if (git !== undefined) return git;
  throw new SlessError("repository_unsupported", { url: folder, cause: "a work tree needs git" });
}
