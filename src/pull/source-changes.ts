import type { Definitions } from "../desired/index.ts";
import type { SourceFile } from "../plan/index.ts";
import { sourceDigest } from "../source/index.ts";
import { below, contains, type FolderFile } from "./folder-files.ts";
import type { FolderState } from "./pull-request.ts";
import type { TrackedFiles } from "./tracked-files.ts";
import { isSaved } from "./unsaved.ts";

/** What makes the files of a folder the source that the server has. */
export interface SourceChanges {
  /** All files of the source by their paths below the root. */
  readonly files: ReadonlyMap<string, FolderFile>;
  readonly written: readonly string[];
  readonly removed: readonly string[];
  /** In the folder but not in the source, and not in Git either. */
  readonly kept: readonly string[];
}

/** The source in a folder, and who runs it. */
export interface PresentSource {
  /** Paths are relative to the folder. */
  readonly files: readonly SourceFile[];
  /** `refText` of its objects. */
  readonly objects: readonly string[];
  /**
   * Digests that it answers to: of all that Git would take, and of what is committed alone, for a file that lies about
   * and was never added is not what the server has.
   */
  readonly digests: readonly string[];
}

/** The sources of a folder's definitions, by their folders. */
export function presentSources(
  definitions: Definitions,
  tracked: TrackedFiles | undefined,
): Map<string, PresentSource> {
  const sources = new Map<string, { files: readonly SourceFile[]; objects: string[]; digests: readonly string[] }>();
  for (const [key, { sourceFolder, sourceFiles }] of definitions.objects) {
    if (sourceFolder === undefined) continue;
    const known = sources.get(sourceFolder);
    if (known) known.objects.push(key);
    else sources.set(sourceFolder, lazySource(sourceFolder, sourceFiles, key, tracked));
  }
  return sources;
}

function lazySource(folder: string, files: readonly SourceFile[], key: string, tracked: TrackedFiles | undefined) {
  let digests: readonly string[] | undefined;
  return {
    files,
    objects: [key],
    get digests() {
      digests ??= digestsOf(folder, files, tracked);
      return digests;
    },
  };
}

function digestsOf(folder: string, files: readonly SourceFile[], tracked: TrackedFiles | undefined): string[] {
  const committed = tracked ? files.filter(({ path }) => tracked.has(below(folder, path))) : files;
  const digest = sourceDigest(files);
  return committed.length === files.length ? [digest] : [digest, sourceDigest(committed)];
}

/**
 * Files of the source are written where they differ. What only the folder has goes when it is committed, so that it can
 * be had back; or by force.
 */
export function sourceChanges(
  sourceFolder: string,
  source: ReadonlyMap<string, FolderFile>,
  folder: FolderState,
  force: boolean,
): SourceChanges {
  const files = new Map([...source].map(([path, file]) => [below(sourceFolder, path), file]));
  const written = [...files].filter(([path, file]) => !isSame(folder.lookAt(path), file)).map(([path]) => path);
  const extra = (folder.sources.get(sourceFolder)?.files ?? [])
    .map(({ path }) => below(sourceFolder, path))
    .filter((path) => !files.has(path));
  const isGoing = (path: string) => force || isSaved(path, folder);
  return {
    files,
    written,
    removed: extra.filter(isGoing),
    kept: extra.filter((path) => !isGoing(path)),
  };
}

function isSame(present: FolderFile | undefined, wanted: FolderFile): boolean {
  return present !== undefined && present.mode === wanted.mode && present.id === wanted.id;
}

/** What is kept and stands where the source needs a folder, or in a folder that the source has as a file. */
export function inTheWay({ kept, written }: SourceChanges): string[] {
  return kept.filter((path) => written.some((other) => contains(path, other) || contains(other, path)));
}
