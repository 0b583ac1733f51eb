import { findGit, type GitReader, watchRepository } from "../source/index.ts";
import { openWorktree, openWorktreeReader, watchWorktree } from "../source/worktree/index.ts";
import { gitForWorktree, openLocalReader } from "./open-git-reader.ts";

export interface LocalRepositoryOptions {
  /** Absolute path of the repository, bare or not. */
  readonly path: string;
  /** What lies in its work tree is followed instead of its commits. */
  readonly worktree: boolean;
  /** Absolute paths of folders that are no part of the work tree. */
  readonly excluded: readonly string[];
  /** PATH where git is looked for. */
  readonly searchPath: string;
}

/** The repository of this machine that sless was started with. */
export interface LocalRepository {
  /** @throws SlessError `repository_unreachable`, `repository_unsupported` */
  open(): Promise<GitReader>;
  /** Calls back when there may be something new to read; resolves once changes are noticed. */
  watch(onHint: () => void): Promise<{ close(): Promise<void> }>;
  close(): Promise<void>;
}

/** @throws SlessError `repository_unsupported` for a work tree without git on this machine */
export async function localRepository(options: LocalRepositoryOptions): Promise<LocalRepository> {
  const { path, excluded, searchPath } = options;
  const open = async () => openLocalReader({ repository: path, git: await findGit(searchPath) });
  const watchRefs = (onHint: () => void) => watchRepository({ repository: path, onHint });
  if (!options.worktree) return { open, watch: watchRefs, close: async () => {} };
  const git = gitForWorktree(path, await findGit(searchPath));
  const worktree = openWorktree({ folder: path, git, excluded });
  return {
    open: async () => openWorktreeReader({ worktree, repository: await open() }),
    async watch(onHint) {
      const watches = await Promise.all([watchRefs(onHint), watchWorktree({ worktree, onHint })]);
      return { close: async () => void (await Promise.all(watches.map((watch) => watch.close()))) };
    },
    close: worktree.close,
  };
}
