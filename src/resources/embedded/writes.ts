import {
  type Kind,
  type ObjectIntent,
  type ObjectKey,
  type ObjectMeta,
  type ObjectOf,
  refOf,
  refText,
  type StatusOf,
} from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import type { FieldOwner, MergePatch } from "../resource-store.ts";
import type { Draft } from "./draft.ts";
import { sameJson } from "./fields.ts";
import {
  applyIntent,
  createObject,
  markDeleted,
  type Owned,
  patchObject,
  replaceStatus,
  type Stamp,
} from "./mutations.ts";

interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

// The writes of the port, each calculated on a draft: what they throw leaves the draft as it was.

export function createIn<K extends Kind>(
  draft: Draft,
  intent: ObjectIntent<K>,
  owner: FieldOwner,
  stamp: Stamp,
): ObjectOf<K> {
  const created = createObject(intent, owner, stamp);
  if (draft.get(intent.kind, intent.metadata))
    throw new SlessError("already_exists", { what: refText(refOf(created.object)) });
  return draft.put(created);
}

export function applyIn<K extends Kind>(
  draft: Draft,
  intent: ObjectIntent<K>,
  { owner, absent = false, ...expected }: Preconditions & { owner: FieldOwner; absent?: boolean },
  stamp: Stamp,
): ObjectOf<K> {
  const live = draft.getOwned(intent.kind, intent.metadata);
  if ((live && absent) || !hasExpected(live?.object, expected)) throw conflict(intent.kind, intent.metadata);
  const next = applyIntent(live, intent, owner, stamp);
  if (next.object !== live?.object) return putOrRemove(draft, next);
  if (!sameJson(next.owners, live.owners)) draft.setOwners(next.object, next.owners);
  return next.object;
}

export function patchIn<K extends Kind>(
  draft: Draft,
  ref: ObjectKey & { kind: K },
  patch: MergePatch,
  options: Preconditions & { owner: FieldOwner },
): ObjectOf<K> {
  const live = existing(draft, ref.kind, ref, options);
  const next = patchObject(live, patch, options.owner);
  return next.object === live.object ? live.object : putOrRemove(draft, next);
}

export function updateStatusIn<K extends Kind>(
  draft: Draft,
  { kind, metadata }: { kind: K; metadata: ObjectMeta },
  status: StatusOf<K>,
): ObjectOf<K> {
  const live = existing(draft, kind, metadata, metadata);
  const object = replaceStatus(live.object, status);
  return object === live.object ? object : draft.put({ object, owners: live.owners });
}

export function deleteIn(
  draft: Draft,
  ref: ObjectKey & { kind: Kind },
  preconditions: Preconditions,
  now: string,
): "deleted" | "terminating" | "absent" {
  if (!draft.get(ref.kind, ref)) return "absent";
  const live = existing(draft, ref.kind, ref, preconditions);
  const { deletionTimestamp, finalizers = [] } = live.object.metadata;
  if (finalizers.length === 0) {
    draft.remove(live.object);
    return "deleted";
  }
  if (!deletionTimestamp) draft.put({ object: markDeleted(live.object, now), owners: live.owners });
  return "terminating";
}

/** A deleted object goes with its last finalizer. */
function putOrRemove<K extends Kind>(draft: Draft, next: Owned<K>): ObjectOf<K> {
  const { deletionTimestamp, finalizers = [] } = next.object.metadata;
  return deletionTimestamp && finalizers.length === 0 ? draft.remove(next.object) : draft.put(next);
}

function existing<K extends Kind>(draft: Draft, kind: K, key: ObjectKey, expected: Preconditions): Owned<K> {
  const live = draft.getOwned(kind, key);
  if (!live) throw new SlessError("not_found", { what: refText({ kind, ...keyOnly(key) }) });
  if (!hasExpected(live.object, expected)) throw conflict(kind, key);
  return live;
}

function hasExpected(object: ObjectOf<Kind> | undefined, { uid, resourceVersion }: Preconditions): boolean {
  const present = object?.metadata;
  return (
    (uid ?? present?.uid) === present?.uid && (resourceVersion ?? present?.resourceVersion) === present?.resourceVersion
  );
}

function conflict(kind: Kind, key: ObjectKey): SlessError {
  return new SlessError("conflict", { what: refText({ kind, ...keyOnly(key) }) });
}

function keyOnly({ namespace, name }: ObjectKey): ObjectKey {
  return { namespace, name };
}
