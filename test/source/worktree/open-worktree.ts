import { onTestFinished } from "vitest";
import { findGit, type GitReader } from "../../../src/source/index.ts";
import { openNativeReader } from "../../../src/source/native/index.ts";
import { openWorktree, openWorktreeReader, type Worktree } from "../../../src/source/worktree/index.ts";

const git = (await findGit(process.env.PATH))!;

export interface OpenedWorktree {
  readonly worktree: Worktree;
  readonly reader: GitReader;
  /** Paths of the files that were read since the last look at it. */
  reads(): string[];
}

/** A work tree over real git; closed when the test ends. */
export async function openedWorktree(folder: string, excluded: readonly string[] = []): Promise<OpenedWorktree> {
  const repository = await openNativeReader({ repository: folder, git });
  const read: string[] = [];
  const worktree = openWorktree({ folder, git, excluded, onRead: (path) => read.push(path) });
  const reader = openWorktreeReader({ worktree, repository });
  onTestFinished(async () => {
    await reader.close();
    await worktree.close();
  });
  return { worktree, reader, reads: () => read.splice(0).sort() };
}
