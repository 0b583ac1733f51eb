import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { join, resolve } from "node:path";
import { messageOf, SlessError } from "../../errors/index.ts";
import { findGitDirectory, type GitDirectory, textOf } from "../git-directory.ts";
import type { ObjectId, TreeEntry } from "../git-reader.ts";
import { createBreather } from "./breather.ts";
import { createFileMemory, type FileIds, whileThere } from "./file-ids.ts";
import { inGitsOrder, type RawEntry, treeId } from "./git-objects.ts";
import { createLeftOut, type LeftOut } from "./left-out.ts";
import { onDisk, type RawPath, rawBelow, rawParent, toText } from "./raw-path.ts";
import { createTrackedFiles, type TrackedFiles } from "./tracked-files.ts";

/** Files and folders of a work tree at most. */
const ENTRIES_MAX = 500_000;

/** Where a content was seen. */
export interface SeenFile {
  readonly path: RawPath;
  readonly size: number;
}

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

interface WalkOptions {
  readonly folder: string;
  readonly tracked: TrackedFiles;
  readonly leftOut: LeftOut;
  readonly ids: FileIds;
  readonly breathe: () => Promise<void>;
}

/** One way down all folders; the file system is asked in place, for that is many times faster than asking other threads. */
function createWalk({ folder: root, tracked, leftOut, ids, breathe }: WalkOptions) {
  const trees = new Map<ObjectId, readonly TreeEntry[]>();
  const blobs = new Map<ObjectId, SeenFile>();
  const keptOut = childrenOf(tracked.keptOut.keys());
  let entriesSeen = 0;

  /** Undefined for a folder with nothing in it: Git has none. */
  async function treeOf(folder: RawPath): Promise<ObjectId | undefined> {
    await breathe();
    const found =
      whileThere(() => readdirSync(onDisk(root, folder), { withFileTypes: true, encoding: "latin1" })) ?? [];
    entriesSeen += found.length;
    if (entriesSeen > ENTRIES_MAX)
      throw new SlessError("repository_too_large", { limit: `${ENTRIES_MAX} files in its work tree` });
    const isNested = folder !== "" && found.some(({ name }) => name === ".git");
    if (isNested) return undefined;
    const rules = found.find((entry) => entry.name === ".gitignore" && entry.isFile());
    if (rules) leftOut.add(folder, textIn(rawBelow(folder, rules.name)));
    const entries: RawEntry[] = [];
    for (const entry of found) {
      const seen = await entryOf(folder, entry);
      if (seen) entries.push(seen);
    }
    const present = new Set(found.map(({ name }) => name));
    for (const name of keptOut.get(folder) ?? []) {
      const entry = present.has(name) ? undefined : await keptOutEntry(folder, name);
      if (entry) entries.push(entry);
    }
    return entries.length > 0 ? remember(entries) : undefined;
  }

  async function entryOf(folder: RawPath, entry: Dirent): Promise<RawEntry | undefined> {
    const { name } = entry;
    if (name === ".git") return undefined;
    const path = rawBelow(folder, name);
    const isFolder = entry.isDirectory();
    const commit = tracked.submodules.get(path);
    if (commit !== undefined && isFolder) return { name, mode: "160000", id: commit };
    if (leftOut.has(path, isFolder)) return undefined;
    if (isFolder) {
      const id = await treeOf(path);
      return id === undefined ? undefined : { name, mode: "40000", id };
    }
    if (!entry.isFile() && !entry.isSymbolicLink()) return undefined;
    const stats = whileThere(() => lstatSync(onDisk(root, path)));
    const content = stats && (await ids.contentOf(path, stats));
    if (!content) return undefined;
    blobs.set(content.id, { path, size: content.size });
    return { name, mode: modeOf(stats), id: content.id };
  }

  async function keptOutEntry(folder: RawPath, name: RawPath): Promise<RawEntry | undefined> {
    const path = rawBelow(folder, name);
    const kept = tracked.keptOut.get(path);
    if (kept) return { name, ...kept };
    const id = await treeOf(path);
    return id === undefined ? undefined : { name, mode: "40000", id };
  }

  function textIn(path: RawPath): string {
    return whileThere(() => readFileSync(onDisk(root, path), "utf8")) ?? "";
  }

  function remember(entries: readonly RawEntry[]): ObjectId {
    const sorted = inGitsOrder(entries);
    const id = treeId(sorted, tracked.hash);
    trees.set(
      id,
      sorted.map((entry) => ({ ...entry, name: toText(entry.name) })),
    );
    return id;
  }

  return { treeOf, trees, blobs, emptyTree: () => remember([]) };
}

function modeOf(stats: Stats): "100644" | "100755" | "120000" {
  if (stats.isSymbolicLink()) return "120000";
  return (stats.mode & 0o100) === 0 ? "100644" : "100755";
}

/** Names by their folder, of these paths and of the folders above them. */
function childrenOf(paths: Iterable<RawPath>): Map<RawPath, Set<RawPath>> {
  const children = new Map<RawPath, Set<RawPath>>();
  for (const path of paths) {
    for (let at = path; at !== ""; at = rawParent(at)) {
      const folder = rawParent(at);
      const names = children.get(folder) ?? new Set();
      names.add(at.slice(folder === "" ? 0 : folder.length + 1));
      children.set(folder, names);
    }
  }
  return children;
}
