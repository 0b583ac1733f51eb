import { ANNOTATIONS, type AnyObject, DISABLED, HELD, LABELS } from "../apis/index.ts";

type Annotated = { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };

/** An opt-out (`ANNOTATIONS.prune`, `ANNOTATIONS.reconcile`) of an object or a manifest. */
export function isOff(object: Annotated, annotation: string): boolean {
  return object.metadata.annotations?.[annotation] === DISABLED;
}

/** A sync wanted the object deleted and waits for an approval. */
export function isHeld({ metadata }: AnyObject): boolean {
  return metadata.labels?.[LABELS.deletion] === HELD;
}

/** Held, or approved for deletion by whoever may. */
export function isMarked(object: AnyObject): boolean {
  return isHeld(object) || object.metadata.annotations?.[ANNOTATIONS.deletionApproved] !== undefined;
}
