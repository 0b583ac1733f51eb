import { below, contains, type FolderFile, splitPath } from "./folder-files.ts";
import type { FolderState } from "./pull-request.ts";

/** Folders and file names that are tried when the first one is taken. */
const TRIES = 20;

/** A folder of its own for an object. */
export interface WantedHome {
  /** By convention; others are this with a number. */
  readonly home: string;
  /** Name of the manifest by convention. */
  readonly manifest: string;
  /** The folder of the source in that of the manifest; "" = the same. */
  readonly sourceDir: string;
  /** Files that will stand in the folder of the source. */
  readonly source: ReadonlyMap<string, FolderFile>;
}

/** Finds places where nothing is, and gives none twice. */
export type FindFreePlace = (wanted: WantedHome) => string | undefined;

export function freePlaces(folder: FolderState): FindFreePlace {
  const given = new Set<string>();
  const pathsBelow = sortedPaths(folder.files.keys());

  /** Nothing is there, or nothing but a part of the source, as a pull leaves it that was cut short. */
  function isFree(home: string, { sourceDir, source }: WantedHome): boolean {
    if (given.has(home) || isBehindFile(`${home}/x`, folder)) return false;
    const sourceFolder = below(home, sourceDir);
    return pathsBelow(home).every((path) => {
      const wanted = contains(sourceFolder, path) ? source.get(path.slice(sourceFolder.length + 1)) : undefined;
      const file = folder.files.get(path)!;
      return wanted?.id === file.id && wanted.mode === file.mode;
    });
  }

  return (wanted) => {
    for (let at = 1; at <= TRIES; at++) {
      const home = at === 1 ? wanted.home : `${wanted.home}-${at}`;
      if (!isFree(home, wanted)) continue;
      given.add(home);
      return freeName(home, wanted, folder);
    }
    return undefined;
  };
}

/** A file or a link stands where the path needs a folder. */
export function isBehindFile(path: string, folder: FolderState): boolean {
  for (let [above] = splitPath(path); above !== ""; [above] = splitPath(above)) if (folder.lookAt(above)) return true;
  return false;
}

/** The source may hold a file of the manifest's name, in any case. */
function freeName(home: string, { manifest, sourceDir, source }: WantedHome, folder: FolderState): string | undefined {
  const taken = new Set([...source.keys()].map((path) => folded(below(below(home, sourceDir), path))));
  const names = [manifest, "sless.yaml", ...Array.from({ length: TRIES }, (_, at) => `sless-${at + 2}.yaml`)];
  return names.map((name) => below(home, name)).find((path) => !taken.has(folded(path)) && !folder.lookAt(path));
}

/** What file systems without upper and lower case take for the same. */
function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** Answers the paths below a folder; they are only sorted when somebody asks. */
function sortedPaths(paths: Iterable<string>): (folder: string) => string[] {
  let sorted: readonly string[] | undefined;
  return (folder) => {
    sorted ??= [...paths].sort();
    const prefix = `${folder}/`;
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < prefix) low = middle + 1;
      else high = middle;
    }
    const found: string[] = [];
    for (let at = low; at < sorted.length && sorted[at]!.startsWith(prefix); at++) found.push(sorted[at]!);
    return found;
  };
}
