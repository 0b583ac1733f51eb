import { ANNOTATIONS } from "./group.ts";
import type { AnyObject, Kind } from "./kinds.ts";

/** `<repository uid>/<kind>/<namespace>/<name>`: the owner annotation of that very object. */
export function ownerAnnotation(
  repositoryUid: string,
  object: { kind: Kind; metadata: { namespace: string; name: string } },
): string {
  return `${repositoryUid}/${object.kind}/${object.metadata.namespace}/${object.metadata.name}`;
}

/**
 * UID of the repository that owns the object, or undefined. An annotation that names another object (a copy)
 * counts for nothing; whether the repository still exists is for the caller to know.
 */
export function ownerUidOf(object: Pick<AnyObject, "kind"> & { metadata: AnyObject["metadata"] }): string | undefined {
  const annotation = object.metadata.annotations?.[ANNOTATIONS.owner];
  if (!annotation) return undefined;
  const uid = annotation.slice(0, annotation.indexOf("/"));
  return uid && annotation === ownerAnnotation(uid, object) ? uid : undefined;
}

/** The deletion of this very object, held by the guard, was approved for this repository. */
export function isDeletionApproved(object: AnyObject, repositoryUid: string): boolean {
  return object.metadata.annotations?.[ANNOTATIONS.deletionApproved] === `${repositoryUid}/${object.metadata.uid}`;
}
