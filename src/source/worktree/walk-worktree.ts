import { type Dirent, lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { SlessError } from "../../errors/index.ts";
import type { ObjectId, TreeEntry } from "../git-reader.ts";
import { type FileIds, whileThere } from "./file-ids.ts";
import { inGitsOrder, type RawEntry, treeId } from "./git-objects.ts";
import type { LeftOut } from "./left-out.ts";
import { onDisk, type RawPath, rawBelow, rawParent, toText } from "./raw-path.ts";
import type { TrackedFiles } from "./tracked-files.ts";

/** Files and folders of a work tree at most. */
const ENTRIES_MAX = 500_000;

/** Where a content was seen. */
export interface SeenFile {
  readonly path: RawPath;
  readonly size: number;
}

export interface WalkOptions {
  readonly folder: string;
  readonly tracked: TrackedFiles;
  readonly leftOut: LeftOut;
  readonly ids: FileIds;
  readonly breathe: () => Promise<void>;
}

/** One way down all folders; the file system is asked in place, for that is many times faster than asking other threads. */
export function createWalk({ folder: root, tracked, leftOut, ids, breathe }: WalkOptions) {
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
    const isRepository = found.some(({ name }) => name === ".git");
    if (isRepository && folder !== "" && !tracked.folders.has(folder)) return undefined;
    const rules = found.find((entry) => entry.name === ".gitignore" && entry.isFile());
    if (rules) leftOut.add(folder, textOf(onDisk(root, rawBelow(folder, rules.name))));
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

  function remember(entries: readonly RawEntry[]): ObjectId {
    const sorted = inGitsOrder(entries);
    const id = treeId(sorted, tracked.hash);
    trees.set(id, sorted.map(toTreeEntry));
    return id;
  }

  return { treeOf, trees, blobs, emptyTree: () => remember([]) };
}

function textOf(file: string | Buffer): string {
  return whileThere(() => readFileSync(file, "utf8")) ?? "";
}

function toTreeEntry({ name, mode, id }: RawEntry): TreeEntry {
  return { name: toText(name), mode, id };
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
