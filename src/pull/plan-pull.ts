import { changedFields } from "./changed-fields.ts";
import type { FetchedSource, FetchedSources } from "./fetched-source.ts";
import type { FolderFile } from "./folder-files.ts";
import { manifestTexts } from "./manifest-texts.ts";
import { type Place, placesOf } from "./new-places.ts";
import { goneObjects } from "./prune-gone.ts";
import { type FileChange, type PullRequest, type PullRow, seen } from "./pull-request.ts";
import { inTheWay, type SourceChanges, sourceChanges } from "./source-changes.ts";
import { type Candidate, isEdited, liveDigests, type Skip, skippedRow, standObjects } from "./stand-objects.ts";
import { isUnsaved, pathsText, unsavedReason } from "./unsaved.ts";

/** What a pull does to a folder. */
export interface PullPlan {
  readonly rows: readonly PullRow[];
  /** Sources first, then manifests. */
  readonly changes: readonly FileChange[];
  /** Objects that are written or gone, by `refText`, each as the folder is to have it. */
  readonly outcome: ReadonlyMap<string, Outcome>;
}

export interface Outcome {
  /** null: it goes. */
  readonly candidate: Candidate | null;
  readonly place: Place;
  readonly source: SourceChanges | undefined;
}

/** An object that would be written. */
interface Wanted {
  readonly candidate: Candidate;
  readonly place: Place;
  readonly source: SourceChanges | undefined;
}

/** Objects whose source is not the folder's and must be downloaded before a plan can be made. */
export function missingSources(request: PullRequest): Candidate[] {
  const { candidates } = standObjects(request);
  const withCode = candidates.filter(({ digest }) => digest !== undefined);
  const present = placesOf(
    withCode.filter((one) => one.present),
    new Map(),
    request,
  );
  return withCode.filter((one) => !hasSource(present.get(one.key)?.sourceFolder, one.digest!, request));
}

/**
 * What makes the folder say what the server has (design §2, §3). Pure but for looking at files that Git ignores.
 *
 * @param sources of `missingSources`
 * @param refused objects that are left out, and why: by `refText`
 */
export function planPull(
  request: PullRequest,
  sources: FetchedSources,
  refused: ReadonlyMap<string, Skip> = new Map(),
): PullPlan {
  const { candidates, skipped } = standObjects(request);
  const rows: PullRow[] = [...skipped];
  const skip = (candidate: Candidate, why: Skip) => rows.push(skippedRow(candidate.ref, why));
  const fit = candidates.filter((candidate) => {
    const why = refused.get(candidate.key) ?? sourceFault(candidate, sources);
    if (why) skip(candidate, { file: candidate.present?.object.file, ...why } as Skip);
    return why === undefined;
  });
  const places = placesOf(fit, sources, request);
  const digests = liveDigests(request);
  const wanted: Wanted[] = [];
  for (const candidate of fit) {
    const place = places.get(candidate.key);
    const made = place && wantedOf(candidate, place, sources, request);
    if (!made) skip(candidate, { reason: "there is no free place for its folder", isFault: true });
    else {
      const why = conflict(made, digests, request) ?? unsavedFiles(made, request);
      if (why) skip(candidate, { file: made.place.file, ...why });
      else wanted.push(made);
    }
  }
  const gone = goneObjects(request, refused);
  const texts = manifestTexts(wanted, gone.going, request);
  for (const { candidate, why } of texts.failed) skip(candidate, why);
  const done = wanted.filter(({ candidate }) => !texts.failed.some((one) => one.candidate === candidate));
  rows.push(...done.map(rowOf), ...gone.rows);
  return {
    rows: rows.sort(byKindAndName),
    changes: [...fileChanges(done, gone.removed, request), ...texts.changes],
    outcome: outcomeOf(done, gone.going),
  };
}

function sourceFault({ digest }: Candidate, sources: FetchedSources): Skip | undefined {
  const fetched: FetchedSource | undefined = digest === undefined ? undefined : sources.get(digest);
  return fetched && "fault" in fetched ? { reason: fetched.fault, isFault: true } : undefined;
}

function wantedOf(candidate: Candidate, place: Place, sources: FetchedSources, request: PullRequest): Wanted {
  const { digest } = candidate;
  const { sourceFolder } = place;
  const fetched = digest === undefined ? undefined : sources.get(digest);
  const isSame = sourceFolder === undefined || hasSource(sourceFolder, digest!, request);
  const source =
    !isSame && fetched && "files" in fetched
      ? sourceChanges(sourceFolder, fetched.files, request.folder, request.force)
      : undefined;
  return { candidate, place, source };
}

/** The files of the folder are that source; by force all of them, otherwise what lies about uncommitted may stay. */
function hasSource(sourceFolder: string | undefined, digest: string, { folder, force }: PullRequest): boolean {
  const digests = sourceFolder === undefined ? undefined : folder.sources.get(sourceFolder)?.digests;
  return force ? digests?.[0] === digest : digests?.includes(digest) === true;
}

/** Others run the same files, and on the server they run another source. */
function conflict({ candidate, place, source }: Wanted, digests: ReadonlyMap<string, string>, { folder }: PullRequest) {
  if (!source || place.sourceFolder === undefined) return undefined;
  const others = folder.sources.get(place.sourceFolder)?.objects ?? [];
  const other = others.find((key) => digests.has(key) && digests.get(key) !== candidate.digest);
  if (other === undefined) return undefined;
  return { reason: `shares its source folder with ${other}, which has another source on the server`, isFault: true };
}

function unsavedFiles({ candidate, place, source }: Wanted, request: PullRequest): Skip | undefined {
  const blocking = source ? inTheWay(source) : [];
  const touched = [...(source?.written ?? []), ...(source?.removed ?? [])];
  if (isEdited(candidate)) touched.push(place.file);
  const unsaved = request.force ? [] : touched.filter((path) => isUnsaved(path, request.folder));
  const all = [...blocking, ...unsaved];
  return all.length > 0 ? { reason: unsavedReason(all), isFault: true } : undefined;
}

function rowOf({ candidate, place, source }: Wanted): PullRow {
  const { ref, present, intent } = candidate;
  const { written = [], removed = [], kept = [] } = source ?? {};
  const isTouched = written.length + removed.length > 0;
  const changes = present ? changedFields(present.object.intent, intent) : [];
  if (isTouched) changes.push("source");
  const action = !present ? "created" : changes.length > 0 ? "configured" : "unchanged";
  const reason = kept.length > 0 ? { reason: `kept, for Git does not have it: ${pathsText(kept)}` } : {};
  return { ref, action, file: place.file, changes: present ? changes : [], written, removed, kept, ...reason };
}

function fileChanges(wanted: readonly Wanted[], removed: ReadonlyMap<string, string[]>, { folder }: PullRequest) {
  const byPath = new Map<string, { file: FolderFile | null; objects: string[] }>();
  const note = (path: string, file: FolderFile | null, object: string) => {
    const known = byPath.get(path);
    if (known) known.objects.push(object);
    else byPath.set(path, { file, objects: [object] });
  };
  for (const [path, objects] of removed) for (const object of objects) note(path, null, object);
  for (const { candidate, source } of wanted) {
    for (const path of source?.removed ?? []) note(path, null, candidate.key);
    for (const path of source?.written ?? []) note(path, source!.files.get(path)!, candidate.key);
  }
  return [...byPath].map(
    ([path, { file, objects }]): FileChange => ({
      path,
      file,
      objects,
      isManifest: false,
      before: seen(folder.lookAt(path)),
    }),
  );
}

function outcomeOf(wanted: readonly Wanted[], going: ReadonlyMap<string, Place>): Map<string, Outcome> {
  const outcome = new Map<string, Outcome>();
  for (const [key, place] of going) outcome.set(key, { candidate: null, place, source: undefined });
  for (const { candidate, place, source } of wanted) {
    if (isEdited(candidate) || source) outcome.set(candidate.key, { candidate, place, source });
  }
  return outcome;
}

function byKindAndName(a: PullRow, b: PullRow): number {
  if (a.ref.kind !== b.ref.kind) return a.ref.kind < b.ref.kind ? -1 : 1;
  return a.ref.name < b.ref.name ? -1 : 1;
}
