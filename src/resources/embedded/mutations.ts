import {
  API_VERSION,
  type Kind,
  type ObjectIntent,
  type ObjectKey,
  type ObjectMeta,
  type ObjectOf,
  type SpecOf,
  type StatusOf,
  statusFaults,
  withDefaults,
} from "../../apis/index.ts";
import { mergePatch } from "../merge-patch.ts";
import { checkMetadata, checkObject, refuseFaults, type Writable } from "../object-faults.ts";
import type { FieldOwner, MergePatch } from "../resource-store.ts";
import { applyFields, type FieldOwners, NO_OWNERS, ownersAfterUpdate } from "./field-owners.ts";
import { type Fields, fieldsOf, freezeDeep, sameJson, writableOf } from "./fields.ts";

/** An object as it is kept, with who owns its fields. */
export interface Owned<K extends Kind = Kind> {
  readonly object: ObjectOf<K>;
  readonly owners: FieldOwners;
}

/** What the store adds to a write: the identity of new objects and the time (RFC 3339). */
export interface Stamp {
  readonly uid: string;
  readonly now: string;
}

// All functions below are pure and keep what they are given: a caller's own data is copied before. They return the
// present object itself when nothing that a reader sees changes, and leave its resourceVersion to the draft.

export function createObject<K extends Kind>(intent: ObjectIntent<K>, owner: FieldOwner, stamp: Stamp): Owned<K> {
  const fields = fieldsOf(writableOfIntent(intent));
  const object = newObject(intent, fields, stamp);
  return { object, owners: ownersAfterUpdate(new Map(), fieldsOfObject(object), NO_OWNERS, owner) };
}

export function applyIntent<K extends Kind>(
  live: Owned<K> | undefined,
  intent: ObjectIntent<K>,
  owner: FieldOwner,
  stamp: Stamp,
): Owned<K> {
  const wanted = fieldsOf(writableOfIntent(intent));
  const present = live ? fieldsOfObject(live.object) : new Map<string, unknown>();
  const { fields, owners } = applyFields(present, live?.owners ?? NO_OWNERS, owner, wanted);
  return { object: live ? changedObject(live.object, fields) : newObject(intent, fields, stamp), owners };
}

export function patchObject<K extends Kind>(live: Owned<K>, patch: MergePatch, owner: FieldOwner): Owned<K> {
  const { metadata, spec } = live.object;
  const merged = mergePatch(
    { labels: metadata.labels, annotations: metadata.annotations, finalizers: metadata.finalizers, spec },
    { ...pickWritable(patch.metadata), ...(patch.spec !== undefined && { spec: patch.spec }) },
  ) as Writable;
  const object = changedObject(live.object, fieldsOf(merged));
  if (object === live.object) return live;
  const owners = ownersAfterUpdate(fieldsOfObject(live.object), fieldsOfObject(object), live.owners, owner);
  return { object, owners };
}

export function replaceStatus<K extends Kind>(live: ObjectOf<K>, status: StatusOf<K>): ObjectOf<K> {
  if (sameJson(status, live.status)) return live;
  refuseFaults(statusFaults(live.kind, status));
  return { ...live, status };
}

/** A deletion that waits for finalizers; the generation moves, as it does in Kubernetes. */
export function markDeleted<K extends Kind>(live: ObjectOf<K>, now: string): ObjectOf<K> {
  const metadata = { ...live.metadata, generation: live.metadata.generation + 1, deletionTimestamp: now };
  return { ...live, metadata };
}

/** The object with another version. */
export function withVersion<K extends Kind>(object: ObjectOf<K>, resourceVersion: string): ObjectOf<K> {
  return freezeDeep({ ...object, metadata: { ...object.metadata, resourceVersion } });
}

function writableOfIntent({ metadata, spec }: ObjectIntent): Writable {
  return { ...pickWritable(metadata), spec: spec ?? {} };
}

function pickWritable(metadata: MergePatch["metadata"]): Writable {
  if (!metadata) return {};
  const { labels, annotations, finalizers } = metadata;
  const given = Object.entries({ labels, annotations, finalizers }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

function fieldsOfObject(object: ObjectOf<Kind>): Map<string, unknown> {
  return fieldsOf({ ...pickWritable(object.metadata), spec: object.spec });
}

function newObject<K extends Kind>(intent: ObjectIntent<K>, fields: Fields, stamp: Stamp): ObjectOf<K> {
  const { kind } = intent;
  const { name, namespace } = intent.metadata;
  const { spec, ...rest } = checked(kind, { name, namespace }, writableOf(fields));
  const metadata: ObjectMeta = {
    name,
    namespace,
    uid: stamp.uid,
    resourceVersion: "",
    generation: 1,
    creationTimestamp: stamp.now,
    ...rest,
  };
  return { apiVersion: API_VERSION, kind, metadata, spec };
}

function changedObject<K extends Kind>(live: ObjectOf<K>, fields: Fields): ObjectOf<K> {
  const { labels, annotations, finalizers, ...fixed } = live.metadata;
  const { spec, ...rest } = checked(live.kind, fixed, writableOf(fields), live.spec);
  if (spec === live.spec && sameJson(rest, pickWritable(live.metadata))) return live;
  if (live.metadata.deletionTimestamp) refuseNewFinalizers(finalizers ?? [], rest.finalizers ?? []);
  const metadata = { ...fixed, ...rest, generation: live.metadata.generation + (spec === live.spec ? 0 : 1) };
  return { ...live, metadata, spec };
}

interface Checked<K extends Kind> {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  spec: SpecOf<K>;
}

/**
 * What was written with its defaults, if it is valid. An equal spec is the live one itself and is not judged again:
 * most writes leave the spec alone, and one that an older schema let in must not lock its object.
 */
function checked<K extends Kind>(
  kind: K,
  { name, namespace }: ObjectKey,
  written: Writable,
  live?: SpecOf<K>,
): Checked<K> {
  if (sameJson(written.spec, live)) {
    checkMetadata(written);
    return { ...written, spec: live } as Checked<K>;
  }
  const spec = withDefaults(kind, written.spec as Partial<SpecOf<K>>);
  const object = { ...written, spec: sameJson(spec, live) ? live : spec };
  checkObject(kind, { name, namespace }, object);
  return object as Checked<K>;
}

function refuseNewFinalizers(before: readonly string[], after: readonly string[]): void {
  const added = after.filter((name) => !before.includes(name));
  const message = `${added.join(", ")} cannot be added to an object that is being deleted`;
  if (added.length > 0) refuseFaults([{ path: ["metadata", "finalizers"], message }]);
}
