import { type ObjectIntent, type ObjectRef, refOf, refText, type WorkloadRef } from "../apis/index.ts";
import type { Definitions, PlacedDefinition } from "../desired/index.ts";
import type { TrackedFiles } from "../pull/index.ts";
import { sourceDigest } from "../source/index.ts";
import { refusal } from "./pick-revision.ts";

/** A commit: what it defines, and its files. */
export interface CommitView {
  readonly definitions: Definitions;
  /** All that may be touched; paths are below the root. */
  readonly files: TrackedFiles;
}

export interface FileChange {
  readonly path: string;
  readonly change: "added" | "modified" | "deleted";
}

export interface RollbackPlan {
  /** Folders and manifests that go back, for people. */
  readonly places: readonly string[];
  /** What the commit changes, sorted. */
  readonly changes: readonly FileChange[];
  /** The path belongs to what goes back. */
  readonly isOwn: (path: string) => boolean;
  /** Of the source as the old commit has it. */
  readonly sourceDigest: string;
}

interface Place {
  readonly file: string;
  /** undefined: its manifest cannot be read. */
  readonly sourceFolder: string | undefined;
}

/**
 * What has to change in `head` so that a workload's source folder and manifest are as in `target`, and nothing of any
 * other object. Pure.
 *
 * @throws SlessError `rollback_refused` where the two cannot be told apart, and when nothing would change
 */
export function planRollback(ref: WorkloadRef, target: CommitView, head: CommitView): RollbackPlan {
  const before = placeIn(ref, target);
  if (before?.sourceFolder === undefined) throw refusal(ref, notThere(ref, target));
  const places = [before, placeIn(ref, head)].filter((place) => place !== undefined);
  refuseShared(ref, places, [target, head]);
  const isOwn = ownPaths(ref, places, [target, head]);
  refuseMixed(ref, isOwn, target, head);
  const changes = changesOf(target.files, head.files, isOwn);
  const module = changes.find(({ path }) => [target, head].some(({ files }) => files.get(path)?.mode === "160000"));
  if (module) throw refusal(ref, `${module.path} is a submodule`);
  if (changes.length === 0)
    throw refusal(ref, "there is nothing to go back to: the checkout has its files as they were; `git push` them");
  const { sourceFiles } = target.definitions.objects.get(refText(ref))!;
  return {
    places: [...new Set(places.flatMap(({ file, sourceFolder }) => placeNames(file, sourceFolder)))],
    changes,
    isOwn,
    sourceDigest: sourceDigest(sourceFiles),
  };
}

function placeNames(file: string, folder: string | undefined): string[] {
  if (folder === undefined) return [file];
  return isBelow(file, folder) ? [folder || "."] : [folder, file];
}

function placeIn(ref: WorkloadRef, { definitions }: CommitView): Place | undefined {
  const found = definitions.objects.get(refText(ref));
  if (found) return { file: found.object.file, sourceFolder: found.sourceFolder };
  const blocked = definitions.blocked.get(refText(ref));
  return blocked && { file: blocked.file, sourceFolder: undefined };
}

function notThere(ref: WorkloadRef, { definitions }: CommitView): string {
  const blocked = definitions.blocked.get(refText(ref));
  return blocked
    ? `its manifest is faulty there: ${blocked.message.replace(/\.$/, "")}`
    : "that commit has no manifest of it";
}

function others(ref: WorkloadRef, { definitions }: CommitView): PlacedDefinition[] {
  return [...definitions.objects.values()].filter(({ object }) => !belongsTo(ref, object.intent));
}

/** The object itself, and what only calls it. */
function belongsTo(ref: ObjectRef, intent: ObjectIntent): boolean {
  if (refText(refOf(intent)) === refText(ref)) return true;
  const { functionRef } = intent.spec as { functionRef?: string };
  return intent.kind !== "Repository" && functionRef === ref.name;
}

/** Two workloads that run the files of one folder go back together, or not at all. */
function refuseShared(ref: WorkloadRef, places: readonly Place[], views: readonly CommitView[]): void {
  const folders = new Set(places.map(({ sourceFolder }) => sourceFolder));
  for (const view of views) {
    const shared = others(ref, view).find(
      ({ sourceFolder }) => sourceFolder !== undefined && folders.has(sourceFolder),
    );
    if (!shared) continue;
    const other = refText(refOf(shared.object.intent));
    throw refusal(ref, `${other} runs the files of ${shared.sourceFolder || "the same folder"} too`);
  }
}

/** Below its folders, less folders of other workloads and manifests of other objects. */
function ownPaths(ref: WorkloadRef, places: readonly Place[], views: readonly CommitView[]): (path: string) => boolean {
  const folders = places.flatMap(({ sourceFolder }) => (sourceFolder === undefined ? [] : [sourceFolder]));
  const files = new Set(places.map(({ file }) => file));
  const foreign = views.flatMap((view) =>
    others(ref, view).flatMap(({ sourceFolder }) => (sourceFolder === undefined ? [] : [sourceFolder])),
  );
  const inner = foreign.filter((path) => folders.some((folder) => isBelow(path, folder)));
  const isInside = (path: string) =>
    folders.some((folder) => isBelow(path, folder)) && !inner.some((folder) => isBelow(path, folder));
  const manifests = new Set(views.flatMap(({ definitions }) => [...definitions.manifests]));
  const own = new Set<string>();
  for (const path of manifests) {
    if (files.has(path) || !isInside(path)) continue;
    if (holdsOwn(ref, path, views)) own.add(path);
    else if (isUnreadable(path, views))
      throw refusal(ref, `${path} cannot be read, so that nobody knows what it belongs to; mend it first`);
  }
  return (path) => files.has(path) || (isInside(path) && (!manifests.has(path) || own.has(path)));
}

function holdsOwn(ref: WorkloadRef, path: string, views: readonly CommitView[]): boolean {
  return views.some(({ definitions }) =>
    [...definitions.objects.values()].some(({ object }) => object.file === path && belongsTo(ref, object.intent)),
  );
}

/** Faulty in one commit, and in none of them anything that can be read. */
function isUnreadable(path: string, views: readonly CommitView[]): boolean {
  const isRead = views.some(({ definitions }) =>
    [...definitions.objects.values()].some(({ object }) => object.file === path),
  );
  return !isRead && views.some(({ definitions }) => definitions.faulty.has(path));
}

/** A file that holds other objects too goes back only when those are the same in both commits. */
function refuseMixed(ref: WorkloadRef, isOwn: (path: string) => boolean, target: CommitView, head: CommitView): void {
  const in_ = (view: CommitView) =>
    new Map(
      others(ref, view)
        .filter(({ object }) => isOwn(object.file))
        .map(({ object }) => [
          refText(refOf(object.intent)),
          { file: object.file, text: JSON.stringify([object.file, object.intent]) },
        ]),
    );
  const [then, now] = [in_(target), in_(head)];
  for (const [other, { file }] of [...then, ...now]) {
    if (then.get(other)?.text === now.get(other)?.text) continue;
    throw refusal(ref, `${file} also holds ${other}, which was another one then; change the file by hand`);
  }
}

function changesOf(target: TrackedFiles, head: TrackedFiles, isOwn: (path: string) => boolean): FileChange[] {
  const paths = [...new Set([...target.keys(), ...head.keys()])].filter(isOwn).sort();
  return paths.flatMap((path): FileChange[] => {
    const [then, now] = [target.get(path), head.get(path)];
    if (!now) return [{ path, change: "added" }];
    if (!then) return [{ path, change: "deleted" }];
    return then.id === now.id && then.mode === now.mode ? [] : [{ path, change: "modified" }];
  });
}

/** Within a folder, or the folder itself; "" is the root. */
function isBelow(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}
