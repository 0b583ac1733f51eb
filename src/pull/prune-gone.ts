import { refOf } from "../apis/index.ts";
import type { PlacedDefinition } from "../desired/index.ts";
import { DEFAULT_GUARD, isWithinGuard } from "../plan/index.ts";
import { below, contains } from "./folder-files.ts";
import { goneFrom } from "./never-deployed.ts";
import type { Place } from "./new-places.ts";
import type { FolderState, PullRequest, PullRow } from "./pull-request.ts";
import { type Skip, skippedRow } from "./stand-objects.ts";
import { isSaved, isUnsaved, pathsText, unsavedReason } from "./unsaved.ts";

export interface GoneObjects {
  readonly rows: readonly PullRow[];
  /** Objects whose documents go, by `refText`. */
  readonly going: ReadonlyMap<string, Place>;
  /** Files of sources that go, with the objects that had them. */
  readonly removed: ReadonlyMap<string, string[]>;
}

/**
 * Objects that the folder has and the server does not. They go only when asked for, and only if they were on the server
 * once: what was never deployed is not gone. With them goes what of their source Git has.
 */
export function goneObjects(request: PullRequest, refused: ReadonlyMap<string, Skip>): GoneObjects {
  const { folder } = request;
  const gone = [...goneFrom(folder, request.live)].filter(([, { object }]) => request.isChosen(refOf(object.intent)));
  const reasons = new Map<string, Skip>();
  const tooMany = tooManyReason(gone.length, request);
  for (const [key, definition] of gone) {
    const why = refused.get(key) ?? reasonToStay(key, definition, request) ?? tooMany;
    if (why) reasons.set(key, why);
  }
  const going = new Map<string, Place>();
  for (const [key, { object, sourceFolder }] of gone)
    if (!reasons.has(key)) going.set(key, { file: object.file, sourceFolder });
  const removed = new Map<string, string[]>();
  const rows = gone.map(([key, definition]): PullRow => {
    const ref = refOf(definition.object.intent);
    const { file } = definition.object;
    const why = reasons.get(key);
    if (why) return skippedRow(ref, { file, ...why });
    const { saved = [], unsaved = [] } = Object.groupBy(filesOnlyOf(going, definition, folder), (path) =>
      request.force || isSaved(path, folder) ? "saved" : "unsaved",
    );
    for (const path of saved) removed.set(path, [...(removed.get(path) ?? []), key]);
    const reason = unsaved.length > 0 ? { reason: `kept, for Git does not have it: ${pathsText(unsaved)}` } : {};
    return { ref, action: "deleted", file, changes: [], written: [], removed: saved, kept: unsaved, ...reason };
  });
  return { rows, going, removed };
}

/** Files of a source that nothing but what goes runs; a source that is all of the folder holds more than code. */
function filesOnlyOf(
  going: ReadonlyMap<string, Place>,
  { sourceFolder, sourceFiles }: PlacedDefinition,
  { scope, sources }: FolderState,
): string[] {
  if (sourceFolder === undefined || contains(sourceFolder, scope)) return [];
  const isShared = sources.get(sourceFolder)?.objects.some((other) => !going.has(other));
  return isShared ? [] : sourceFiles.map(({ path }) => below(sourceFolder, path));
}

/** A wrong namespace or server lacks everything: that must not look like everything being deleted. */
function tooManyReason(count: number, { folder, neverDeployed, force }: PullRequest): Skip | undefined {
  const all = folder.definitions.objects.size;
  const isKnown = force || neverDeployed !== undefined;
  if (isKnown || isWithinGuard({ count, wereHeld: false }, all, DEFAULT_GUARD)) return undefined;
  const reason = `${count} of ${all} objects would go, and nothing tells that they were ever deployed; check server and namespace, then use --force`;
  return { reason, isFault: true };
}

function reasonToStay(key: string, { object }: PlacedDefinition, request: PullRequest): Skip | undefined {
  const never = request.force ? undefined : request.neverDeployed?.get(key);
  if (never !== undefined) return { reason: never };
  if (!request.prune) return { reason: "is not on the server; --prune removes it here" };
  if (request.force) return undefined;
  if (isUnsaved(object.file, request.folder)) return { reason: unsavedReason([object.file]), isFault: true };
  return undefined;
}
