import { posix } from "node:path";
import type { DesiredObject, SourceFile } from "../plan/index.ts";
import type { GitObjects, ObjectId } from "../source/index.ts";
import { readInBulk, sizesInBulk } from "./bulk.ts";
import { sourceFolderOf } from "./manifest-files.ts";
import { below } from "./paths.ts";

/** A dependency file of a source; of a link the file that it leads to. */
export interface DependencyFileRead {
  /** As the runtime names it. */
  readonly name: string;
  readonly isExecutable: boolean;
  readonly isLinked: boolean;
  readonly id: ObjectId;
  /** Of the file itself, below the repository's root. */
  readonly path: string;
  /** Empty for names whose content was not asked for. */
  readonly content: Uint8Array;
}

const LINKS_MAX = 8;
const NOTHING = new Uint8Array();

/**
 * The dependency files of sources, in the order in which the runtime names them. What is no file of the source is not
 * there, as for a builder: a link that leads nowhere, or through a linked folder.
 *
 * @param objects of one reader's state; those without a source have none
 * @param asked names whose content is read
 * @throws SlessError those of `git`
 */
export async function readDependencyFiles(
  git: GitObjects,
  objects: readonly DesiredObject[],
  asked: ReadonlySet<string>,
): Promise<ReadonlyMap<DesiredObject, readonly DependencyFileRead[]>> {
  const found = new Map<DesiredObject, readonly Found[]>();
  for (const object of objects) found.set(object, await findFiles(git, object));
  const ids = new Set<ObjectId>();
  for (const files of found.values()) for (const { name, file } of files) if (asked.has(name)) ids.add(file.id);
  const contents = new Map<ObjectId, Uint8Array>();
  await readInBulk(git, [...ids], await sizesInBulk(git, [...ids]), (id, bytes) => void contents.set(id, bytes));
  const read = ({ name, file, isLinked, folder }: Found): DependencyFileRead => ({
    ...{ name, isLinked, id: file.id },
    isExecutable: file.mode === "100755",
    path: below(folder, file.path),
    content: (asked.has(name) && contents.get(file.id)) || NOTHING,
  });
  return new Map([...found].map(([object, files]) => [object, files.map(read)]));
}

interface Found {
  readonly name: string;
  readonly file: SourceFile;
  readonly isLinked: boolean;
  /** Of the source. */
  readonly folder: string;
}

async function findFiles(git: GitObjects, { intent, file: manifest, source }: DesiredObject): Promise<Found[]> {
  if (!source) return [];
  const { dependencyFiles = [], files } = source;
  const entries = files.filter(({ path }) => dependencyFiles.includes(path));
  const folder = sourceFolderOf(manifest, intent) ?? "";
  const found: Found[] = [];
  for (const name of dependencyFiles) {
    const entry = entries.find(({ path }) => path === name);
    if (!entry) continue;
    const isLinked = entry.mode === "120000";
    const file = isLinked ? await followLinks(git, entry, files) : entry;
    if (file) found.push({ name, file, isLinked, folder });
  }
  return found;
}

async function followLinks(
  git: GitObjects,
  link: SourceFile,
  files: readonly SourceFile[],
): Promise<SourceFile | undefined> {
  let at: SourceFile | undefined = link;
  for (let links = 0; at?.mode === "120000"; links += 1) {
    if (links === LINKS_MAX) return undefined;
    const target = Buffer.from((await git.blobs([at.id])).get(at.id)!).toString("utf8");
    const path: string = posix.join(posix.dirname(at.path), target);
    at = files.find((file) => file.path === path);
  }
  return at;
}
