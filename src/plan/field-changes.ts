import { isDeepStrictEqual } from "node:util";
import {
  ANNOTATIONS,
  type AnyObject,
  ownerUidOf,
  refOf,
  sourceDigestOfKey,
  type WorkloadRef,
  withDefaults,
} from "../apis/index.ts";
import type { ChangeClass, FieldChange } from "./action.ts";
import { type Applier, annotationsOfApplier, labelsOfApplier, sourceFields } from "./applied-intent.ts";
import type { DesiredObject } from "./desired-state.ts";

/** Fields that belong to scale and PATCH while the manifest leaves them out (design §2). */
const LEFT_TO_OTHERS = ["replicas", "enabled"];
/** Fields that sync writes itself; `source` stands for them. */
const MANAGED = ["s3Key", "s3Bucket"];

type Fields = Readonly<Record<string, unknown>>;
const NONE: Fields = {};

/** Some leaf that sync would apply is not so in the live object. Without allocation for what is equal. */
export function drifts(desired: DesiredObject, live: AnyObject, applier: Applier): boolean {
  const { metadata, spec } = desired.intent;
  return (
    hasOtherLeaves(spec, live.spec) ||
    hasOtherLeaves(sourceFields(desired, applier), live.spec) ||
    hasOtherLeaves(metadata.labels ?? NONE, live.metadata.labels) ||
    hasOtherLeaves(labelsOfApplier(applier), live.metadata.labels) ||
    hasOtherLeaves(metadata.annotations ?? NONE, live.metadata.annotations) ||
    hasOtherLeaves(annotationsOfApplier(desired, applier), live.metadata.annotations)
  );
}

function hasOtherLeaves(wanted: object, present: unknown): boolean {
  if (!isMap(present)) return Object.keys(wanted).length > 0;
  for (const key in wanted) {
    const value = (wanted as Fields)[key];
    if (value === undefined) continue;
    if (!Object.hasOwn(present, key)) return true;
    const other = present[key];
    if (isMap(value) ? hasOtherLeaves(value, other) : !isSame(value, other)) return true;
  }
  return false;
}

/**
 * What applying `desired` changes in `live`, in the order spec, metadata, source, path. With `dropped`, fields of
 * the live spec that neither the manifest nor a default explains are listed as going; whether they go is the
 * store's to know (another writer may have them too), so this is for people.
 */
export function fieldChanges(
  desired: DesiredObject,
  live: AnyObject,
  applier: Applier,
  options: { dropped: boolean },
): FieldChange[] {
  const { metadata, spec } = desired.intent;
  const changes: FieldChange[] = [];
  const wanted = options.dropped ? comparableSpec(desired, withDefaults(desired.intent.kind, spec)) : spec;
  leafChanges(
    "spec",
    wanted,
    options.dropped ? comparableSpec(desired, live.spec) : live.spec,
    options.dropped,
    changes,
  );
  leafChanges("metadata.labels", metadata.labels ?? NONE, live.metadata.labels, false, changes);
  leafChanges("metadata.annotations", metadata.annotations ?? NONE, live.metadata.annotations, false, changes);
  const bucket = sourceFields(desired, applier).s3Bucket;
  if (bucket !== undefined) leafChanges("spec", { s3Bucket: bucket }, live.spec, false, changes);
  pushChange(changes, "source", liveSourceDigest(live), desired.source?.digest);
  if (ownerUidOf(live) === applier.uid)
    pushChange(changes, "path", live.metadata.annotations?.[ANNOTATIONS.path], desired.file);
  return changes;
}

/** A spec without what sync manages, and without what the manifest leaves to others. */
export function comparableSpec(desired: DesiredObject, spec: object): Fields {
  const left = LEFT_TO_OTHERS.filter((field) => (desired.intent.spec as Fields)[field] === undefined);
  return Object.fromEntries(
    Object.entries(spec).filter(
      ([field, value]) => value !== undefined && !MANAGED.includes(field) && !left.includes(field),
    ),
  );
}

/** An object that nobody owns is what the manifest wants: its spec with defaults, and its source. */
export function isAdoptable(desired: DesiredObject, live: AnyObject): boolean {
  const wanted = comparableSpec(desired, withDefaults(desired.intent.kind, desired.intent.spec));
  return (
    liveSourceDigest(live) === desired.source?.digest && isDeepStrictEqual(wanted, comparableSpec(desired, live.spec))
  );
}

/** Digest of the source that the object's `spec.s3Key` names. */
export function liveSourceDigest(live: AnyObject): string | undefined {
  return sourceDigestOfKey(refOf(live) as WorkloadRef, (live.spec as { s3Key?: string }).s3Key);
}

/** What kinds of change these are, for the object whose dependencies had the digest `dependenciesBefore`. */
export function changeClasses(
  changes: readonly FieldChange[],
  dependenciesBefore: string | undefined,
  dependenciesAfter: string | undefined,
): ChangeClass[] {
  const classes: ChangeClass[] = [];
  if (changes.some(({ path }) => path === "source")) {
    const known = dependenciesBefore !== undefined && dependenciesAfter !== undefined;
    classes.push(known && dependenciesBefore !== dependenciesAfter ? "dependencies" : "code");
  }
  if (changes.some(({ path }) => path.startsWith("spec.") || path.startsWith("metadata.")))
    classes.push("configuration");
  return classes;
}

/** Adds the leaves that differ below `path`; with `dropped` also those that only `present` has. */
export function leafChanges(
  path: string,
  wanted: object,
  present: unknown,
  dropped: boolean,
  into: FieldChange[],
): void {
  const there = isMap(present) ? present : NONE;
  for (const [key, value] of Object.entries(wanted)) {
    const other = Object.hasOwn(there, key) ? there[key] : undefined;
    if (isMap(value) && (other === undefined || isMap(other)) && Object.keys(value).length > 0)
      leafChanges(`${path}.${key}`, value, other, dropped, into);
    else pushChange(into, `${path}.${key}`, other, value);
  }
  if (!dropped) return;
  for (const [key, other] of Object.entries(there))
    if (!Object.hasOwn(wanted, key)) pushGone(`${path}.${key}`, other, into);
}

function pushGone(path: string, value: unknown, into: FieldChange[]): void {
  if (!isMap(value)) pushChange(into, path, value, undefined);
  else for (const [key, inner] of Object.entries(value)) pushGone(`${path}.${key}`, inner, into);
}

function pushChange(into: FieldChange[], path: string, before: unknown, after: unknown): void {
  if (!isSame(before, after)) into.push({ path, before, after });
}

function isMap(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && isDeepStrictEqual(a, b));
}
