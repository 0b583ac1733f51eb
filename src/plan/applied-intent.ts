import { createHash } from "node:crypto";
import {
  ANNOTATIONS,
  finalizersFor,
  LABELS,
  type ObjectIntent,
  ownerAnnotation,
  sourceKey,
  type WorkloadRef,
} from "../apis/index.ts";
import type { DesiredObject } from "./desired-state.ts";

/** For whom and where something is applied; decides, with the desired object, what is written. */
export interface Applier {
  /** UID of the Repository. */
  readonly uid: string;
  /** Bucket of the object store, where it has buckets. */
  readonly s3Bucket?: string;
}

/**
 * What sync applies for a desired object: the manifest's own fields, the source's key (its bytes must be stored
 * before), our marks (owner, path, revision, hash), and the finalizer of kinds that are cleaned up after. Pure.
 *
 * @param revision `main@sha1:<hex>`; stands in the object but is no difference.
 */
export function appliedIntent(desired: DesiredObject, applier: Applier, revision: string): ObjectIntent {
  const intent = intentWithoutHash(desired, applier);
  return {
    ...intent,
    metadata: {
      ...intent.metadata,
      ...finalizersFor(intent.kind),
      annotations: {
        ...intent.metadata.annotations,
        [ANNOTATIONS.revision]: revision,
        [ANNOTATIONS.appliedHash]: hashOf(intent),
      },
    },
  };
}

/** Hash (32 hex digits) of all that `appliedIntent` names but revision and finalizer; the order of keys does not count. */
export function appliedHash(desired: DesiredObject, applier: Applier): string {
  return hashOf(intentWithoutHash(desired, applier));
}

function intentWithoutHash(desired: DesiredObject, applier: Applier): ObjectIntent & { metadata: Required<Marks> } {
  const { intent } = desired;
  return {
    kind: intent.kind,
    metadata: {
      name: intent.metadata.name,
      namespace: intent.metadata.namespace,
      labels: { ...intent.metadata.labels, ...labelsOfApplier(applier) },
      annotations: { ...intent.metadata.annotations, ...annotationsOfApplier(desired, applier) },
    },
    spec: { ...intent.spec, ...sourceFields(desired, applier) },
  };
}

type Marks = Pick<ObjectIntent["metadata"], "labels" | "annotations">;

/** Labels that sync puts on every object of a repository. */
export function labelsOfApplier(applier: Applier): Record<string, string> {
  return { [LABELS.repository]: applier.uid };
}

/** Annotations that sync puts on an object, less revision and hash. */
export function annotationsOfApplier(desired: DesiredObject, applier: Applier): Record<string, string> {
  return {
    [ANNOTATIONS.owner]: ownerAnnotation(applier.uid, desired.intent),
    [ANNOTATIONS.path]: desired.file,
    ...(desired.source && { [ANNOTATIONS.dependenciesDigest]: desired.source.dependenciesDigest }),
  };
}

/** `s3Key` and `s3Bucket` of an object with a source. */
export function sourceFields(desired: DesiredObject, applier: Applier): { s3Key?: string; s3Bucket?: string } {
  if (!desired.source) return {};
  const { kind, metadata } = desired.intent;
  const ref = { kind, namespace: metadata.namespace, name: metadata.name } as WorkloadRef;
  return {
    s3Key: sourceKey(ref, desired.source.digest),
    ...(applier.s3Bucket !== undefined && { s3Bucket: applier.s3Bucket }),
  };
}

function hashOf(intent: ObjectIntent): string {
  return createHash("sha256").update(canonicalJson(intent)).digest("hex").slice(0, 32);
}

/** JSON with sorted keys; what is undefined is left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  const fields: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalJson(field)}`);
  }
  return `{${fields.join(",")}}`;
}
