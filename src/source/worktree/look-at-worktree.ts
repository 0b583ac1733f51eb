import { existsSync, lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { messageOf, SlessError } from "../../errors/index.ts";
import { createBreather } from "../breather.ts";
import { findGitDirectory, type GitDirectory, textOf } from "../git-directory.ts";
import type { ObjectId, TreeEntry } from "../git-reader.ts";
import { createFileMemory } from "./file-ids.ts";
import { createLeftOut, type LeftOut } from "./left-out.ts";
import type { RawPath } from "./raw-path.ts";
import { createTrackedFiles } from "./tracked-files.ts";
import { createWalk, type SeenFile } from "./walk-worktree.ts";

/** All of a work tree as one look saw it. */
export interface WorktreeSeen {
  readonly place: GitDirectory;
  /** Differs when another folder is at that place. */
  readonly identity: string;
  /** The tree that Git would make of it. */
  readonly tree: ObjectId;
  readonly trees: ReadonlyMap<ObjectId, readonly TreeEntry[]>;
  readonly blobs: ReadonlyMap<ObjectId, SeenFile>;
  readonly leftOut: LeftOut;
  /** Git is writing the work tree or the index. */
  readonly isLocked: boolean;
}

export interface LookOptions {
  /** Top folder of the work tree. */
  readonly folder: string;
  /** Absolute path of git, as `findGit` answers it. */
  readonly git: string;
  /** Folders below it that are no part of it. */
  readonly excluded: ReadonlySet<RawPath>;
  /** Told every file whose content is read, for tests. */
  readonly onRead?: (path: RawPath) => void;
}

/**
 * Looks at every file, and reads those that changed since the look before. What goes while it looks is as if it had not
 * been there; whether the folder itself was there all the time is told. Two equal looks one after the other are a
 * state that was.
 *
 * @throws SlessError `repository_unreachable` when anything cannot be read, `repository_unsupported` for a bare one,
 *   `repository_too_large`
 */
export function createLook(options: LookOptions): () => Promise<WorktreeSeen> {
  const { folder, git, excluded, onRead } = options;
  const breathe = createBreather();
  const memory = createFileMemory(folder, breathe, onRead);
  const trackedFiles = createTrackedFiles(git);

  async function look(): Promise<WorktreeSeen> {
    const place = await findGitDirectory(folder);
    if (resolve(folder) === place.gitDir)
      throw new SlessError("repository_unsupported", { url: folder, cause: "it is bare, so it has no work tree" });
    const tracked = await trackedFiles(place);
    const exclude = (await textOf(join(place.commonDir, "info", "exclude"))) ?? "";
    const identity = identityOf(folder);
    const leftOut = createLeftOut(tracked, exclude, excluded);
    const walk = createWalk({ folder, tracked, leftOut, ids: memory.look(tracked.hash), breathe });
    const tree = await walk.treeOf("");
    const isLocked = existsSync(join(place.gitDir, "index.lock"));
    const after = await findGitDirectory(folder);
    if (identity !== identityOf(folder) || after.gitDir !== place.gitDir) return look();
    return { place, identity, tree: tree ?? walk.emptyTree(), trees: walk.trees, blobs: walk.blobs, leftOut, isLocked };
  }

  return async () => {
    try {
      return await look();
    } catch (error) {
      if (error instanceof SlessError) throw error;
      throw new SlessError("repository_unreachable", { url: folder, cause: messageOf(error) }, { cause: error });
    }
  };
}

function identityOf(folder: string): string {
  const { dev, ino } = lstatSync(folder);
  return `${dev} ${ino}`;
}
