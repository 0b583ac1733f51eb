import {
  type GitObjects,
  IGNORE_FILE,
  type IsIgnored,
  ignoreRules,
  type ObjectId,
  type TreeEntry,
} from "../source/index.ts";
import { readInBulk, sizesInBulk } from "./bulk.ts";
import { carriedOver, type Made, NOTHING_MADE } from "./carried-over.ts";
import { entriesOf, type WalkedFolder } from "./folder-walk.ts";
import { MAX_IGNORE_BYTES } from "./limits.ts";
import { below, contains, parentOf } from "./paths.ts";
import type { FoldersRead } from "./tree-reader.ts";

/** The rules of all ignore files of a revision. */
export interface IgnoreFiles {
  readonly isIgnored: IsIgnored;
  /** Changes when an ignore file of a folder above this one does; those within change the folder's own tree. */
  versionAbove(folder: string): string;
  /** Ignore files that say something about this folder and are too large to be read. */
  oversizedFor(folder: string): readonly string[];
}

/** Reads ignore files, and each text again only when its blob changed. */
export function createIgnoreFiles(git: GitObjects) {
  let texts = new Map<ObjectId, string | undefined>();
  let last: { readonly version: string; readonly files: IgnoreFiles } | undefined;
  let found: Made<WalkedFolder, ObjectId | typeof NONE> = NOTHING_MADE;

  /** The same answer as before while no ignore file changed. */
  async function read({ around, folders, fresh, trees }: FoldersRead): Promise<IgnoreFiles> {
    const blobs = new Map<string, ObjectId>();
    const note = (path: string, id: ObjectId | typeof NONE) => id !== NONE && blobs.set(below(path, IGNORE_FILE), id);
    for (const { path, tree } of around) note(path, ignoreFileIn(entriesOf(trees, tree)));
    const before = carriedOver(found, folders, (folder) => fresh.has(folder));
    const values = folders.map(({ entries }, index) => before[index] ?? ignoreFileIn(entries));
    for (const [index, { path }] of folders.entries()) note(path, values[index]!);
    const version = [...blobs].flat().join("\n");
    if (last?.version !== version) {
      await readTexts(new Set(blobs.values()));
      last = { version, files: filesOf(blobs, texts) };
    }
    found = { items: folders, values };
    return last.files;
  }

  async function readTexts(ids: ReadonlySet<ObjectId>): Promise<void> {
    const fresh = [...ids].filter((id) => !texts.has(id));
    const sizes = await sizesInBulk(git, fresh);
    const readable = fresh.filter((id) => sizes.get(id)! <= MAX_IGNORE_BYTES);
    const found = new Map<ObjectId, string | undefined>(fresh.map((id) => [id, undefined]));
    await readInBulk(git, readable, sizes, (id, bytes) => found.set(id, new TextDecoder().decode(bytes)));
    texts = new Map([...texts, ...found].filter(([id]) => ids.has(id)));
  }

  return { read };
}

const NONE = "";

function ignoreFileIn(entries: readonly TreeEntry[]): ObjectId | typeof NONE {
  return entries.find(({ name, mode }) => name === IGNORE_FILE && mode.startsWith("100"))?.id ?? NONE;
}

function filesOf(blobs: ReadonlyMap<string, ObjectId>, texts: ReadonlyMap<ObjectId, string | undefined>): IgnoreFiles {
  const oversized = [...blobs].filter(([, id]) => texts.get(id) === undefined).map(([path]) => path);
  return {
    isIgnored: ignoreRules(new Map([...blobs].map(([path, id]) => [path, texts.get(id) ?? ""]))),
    versionAbove: (folder) => versionAbove(folder, blobs),
    oversizedFor: (folder) => oversized.filter((path) => contains(folder, path) || contains(parentOf(path)!, folder)),
  };
}

function versionAbove(folder: string, blobs: ReadonlyMap<string, ObjectId>): string {
  const ids: string[] = [];
  for (let above = parentOf(folder); above !== undefined; above = parentOf(above))
    ids.push(blobs.get(below(above, IGNORE_FILE)) ?? "");
  return ids.join(" ");
}
