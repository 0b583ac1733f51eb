import { isDeepStrictEqual } from "node:util";
import { ANNOTATIONS, type AnyObject, API_VERSION, refOf, refText } from "../apis/index.ts";
import type { Action, ChangeClass, FieldChange, Plan } from "./action.ts";
import type { DesiredObject, DesiredSource, DesiredState } from "./desired-state.ts";
import { changeClasses, leafChanges } from "./field-changes.ts";
import { isOff } from "./marks.ts";
import { orderGone, orderWanted } from "./order-actions.ts";

const NOTHING: Pick<DesiredState, "objects"> = { objects: [] };

/**
 * What changes from one revision to another, as `sless plan` shows it: no cluster is asked, so nothing is adopted or
 * refused, and no guard holds deletions. Only the head's faults block; without a base everything is created. The
 * `live` of its actions is the base's object, with empty UID and version. Pure.
 */
export function changesBetween(base: DesiredState | undefined, head: DesiredState): Plan {
  const before = new Map((base ?? NOTHING).objects.map((object) => [refText(refOf(object.intent)), object]));
  const wanted: Action[] = [];
  for (const object of head.objects) {
    const key = refText(refOf(object.intent));
    const previous = before.get(key);
    before.delete(key);
    wanted.push(...wantedAction(object, previous, head.blocked.has(key)));
  }
  const gone = [...before].map(([key, object]) => goneAction(object, head, head.blocked.has(key)));
  return { revision: head.revision, actions: [...orderWanted(wanted), ...orderGone(gone)], release: [] };
}

function wantedAction(head: DesiredObject, base: DesiredObject | undefined, isBlocked: boolean): Action[] {
  const ref = refOf(head.intent);
  if (isBlocked) return base ? [{ kind: "leave", ref, live: asLive(base), because: "blocked" }] : [];
  if (base && isEqual(base, head)) return [{ kind: "unchanged", desired: head, live: asLive(base) }];
  if (isOff(head.intent, ANNOTATIONS.reconcile))
    return [{ kind: "leave", ref, ...(base && { live: asLive(base) }), because: "reconcile disabled" }];
  if (!base) return [{ kind: "create", desired: head }];
  const changes = changesOf(base, head);
  const files = changedFiles(base.source, head.source);
  const classes = classesOf(changes, files, base.source, head.source);
  return [{ kind: "update", desired: head, live: asLive(base), changes, classes, files }];
}

function classesOf(
  changes: readonly FieldChange[],
  files: readonly string[],
  base: DesiredSource | undefined,
  head: DesiredSource | undefined,
): ChangeClass[] {
  const classes = changeClasses(changes, base?.dependenciesDigest, head?.dependenciesDigest);
  const dependencyFiles = head?.dependencyFiles;
  const isBoth =
    classes[0] === "dependencies" && dependencyFiles && files.some((path) => !dependencyFiles.includes(path));
  return isBoth ? ["code", ...classes] : classes;
}

function goneAction(base: DesiredObject, head: DesiredState, isBlocked: boolean): Action {
  const live = asLive(base);
  const ref = refOf(live);
  if (isBlocked) return { kind: "leave", ref, live, because: "blocked" };
  if (isOff(base.intent, ANNOTATIONS.reconcile)) return { kind: "leave", ref, live, because: "reconcile disabled" };
  if (isOff(base.intent, ANNOTATIONS.prune)) return { kind: "leave", ref, live, because: "prune disabled" };
  if (head.blocksPruning) return { kind: "hold", live, because: "diagnostics" };
  return { kind: "delete", live, allowedBy: "guard" };
}

function isEqual(base: DesiredObject, head: DesiredObject): boolean {
  if (base === head) return true;
  return (
    base.file === head.file &&
    base.source?.digest === head.source?.digest &&
    (base.intent === head.intent || isDeepStrictEqual(base.intent, head.intent))
  );
}

function changesOf(base: DesiredObject, head: DesiredObject): FieldChange[] {
  const changes: FieldChange[] = [];
  const [from, to] = [base.intent, head.intent];
  leafChanges("spec", to.spec, from.spec, true, changes);
  leafChanges("metadata.labels", to.metadata.labels ?? {}, from.metadata.labels, true, changes);
  leafChanges("metadata.annotations", to.metadata.annotations ?? {}, from.metadata.annotations, true, changes);
  if (base.source?.digest !== head.source?.digest)
    changes.push({ path: "source", before: base.source?.digest, after: head.source?.digest });
  if (base.file !== head.file) changes.push({ path: "path", before: base.file, after: head.file });
  return changes;
}

/** Files of the source that are new, gone or different, sorted. */
function changedFiles(base: DesiredSource | undefined, head: DesiredSource | undefined): string[] {
  if (base?.digest === head?.digest) return [];
  const before = new Map((base?.files ?? []).map((file) => [file.path, file]));
  const changed: string[] = [];
  for (const file of head?.files ?? []) {
    const previous = before.get(file.path);
    before.delete(file.path);
    if (previous?.id !== file.id || previous.mode !== file.mode) changed.push(file.path);
  }
  return [...changed, ...before.keys()].sort();
}

/** A manifest's object in the shape of a live one, for actions that speak of what was there. */
function asLive({ intent, file }: DesiredObject): AnyObject {
  const { name, namespace, labels, annotations } = intent.metadata;
  return {
    apiVersion: API_VERSION,
    kind: intent.kind,
    metadata: {
      name,
      namespace,
      labels,
      annotations: { ...annotations, [ANNOTATIONS.path]: file },
      uid: "",
      resourceVersion: "",
      generation: 0,
      creationTimestamp: "",
    },
    spec: intent.spec,
  } as AnyObject;
}
