import { isDeepStrictEqual } from "node:util";
import {
  ANNOTATIONS,
  type AnyObject,
  LABELS,
  type ObjectIntent,
  ownerUidOf,
  refOf,
  sourceDigestOfKey,
  type WorkloadRef,
} from "../apis/index.ts";
import { appliedHash } from "../plan/index.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Written by sless after a source was stored. */
export const MANAGED: readonly string[] = ["s3Key", "s3Bucket"];
/** Belong to scale and PATCH where a manifest leaves them out (design §2). */
export const LEFT_TO_OTHERS: readonly string[] = ["replicas", "enabled"];

/** A kind has fewer fields with a default. */
const UNSURE_MAX = 8;
/** Not of the manifest: where it stands, what it was applied as, and what is asked for beside it. */
const MARKS: readonly string[] = [
  ANNOTATIONS.owner,
  ANNOTATIONS.path,
  ANNOTATIONS.revision,
  ANNOTATIONS.appliedHash,
  ANNOTATIONS.dependenciesDigest,
  ANNOTATIONS.deletionApproved,
  ANNOTATIONS.requestedAt,
];
const OUR_LABELS: readonly string[] = [LABELS.repository, LABELS.deletion];

/**
 * The fields of the spec that the manifest of a live object wrote when its repository was last synced: a default that is
 * written out looks like one that is not, but for the hash of what was applied. undefined where that does not tell, as
 * for what nobody owns or was changed behind its repository's back. Pure.
 *
 * @param defaults of the kind
 */
export function writtenFields(live: AnyObject, defaults: Fields): ReadonlySet<string> | undefined {
  const { kind, metadata, spec } = live;
  const uid = ownerUidOf(live);
  const hash = metadata.annotations?.[ANNOTATIONS.appliedHash];
  const file = metadata.annotations?.[ANNOTATIONS.path];
  if (uid === undefined || hash === undefined || file === undefined) return undefined;
  const { s3Key, s3Bucket, ...fields } = spec as Fields & { s3Key?: string; s3Bucket?: string };
  const names = Object.keys(fields).filter((field) => fields[field] !== undefined);
  const isUnsure = (field: string) =>
    LEFT_TO_OTHERS.includes(field) || isDeepStrictEqual(fields[field], defaults[field]);
  const unsure = names.filter(isUnsure);
  if (unsure.length > UNSURE_MAX) return undefined;
  const sure = names.filter((field) => !isUnsure(field));
  const digest = sourceDigestOfKey(refOf(live) as WorkloadRef, s3Key);
  const dependenciesDigest = metadata.annotations?.[ANNOTATIONS.dependenciesDigest] ?? "";
  const source = digest === undefined ? {} : { source: { digest, dependenciesDigest, files: [] } };
  const applier = { uid, ...(s3Bucket !== undefined && { s3Bucket }) };
  for (const more of subsets(unsure)) {
    const written = [...sure, ...more];
    const spec = Object.fromEntries(written.map((field) => [field, fields[field]]));
    const intent = { kind, metadata: ofManifest(live), spec } as ObjectIntent;
    if (appliedHash({ intent, file, line: 1, column: 1, ...source }, applier) === hash) return new Set(written);
  }
  return undefined;
}

function ofManifest({ metadata }: AnyObject): ObjectIntent["metadata"] {
  const { name, namespace, labels = {}, annotations = {} } = metadata;
  const without = (texts: Readonly<Record<string, string>>, left: readonly string[]) =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => !left.includes(key)));
  return { name, namespace, labels: without(labels, OUR_LABELS), annotations: without(annotations, MARKS) };
}

/** The smallest first, made as they are asked for: few manifests write defaults. */
function* subsets(names: readonly string[]): Generator<string[]> {
  for (let size = 0; size <= names.length; size += 1)
    for (let mask = 0; mask < 2 ** names.length; mask += 1) {
      const subset = names.filter((_name, at) => mask & (1 << at));
      if (subset.length === size) yield subset;
    }
}
