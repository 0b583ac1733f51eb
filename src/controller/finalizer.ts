import { FINALIZER, type Kind, type ObjectOf, refOf } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import type { FieldOwner, ResourceStore } from "../resources/index.ts";

type Patches = Pick<ResourceStore, "patch">;

/**
 * Holds an object until it is cleaned up after. Objects that sync or the REST API made are born held; for others (made
 * with kubectl) this is one patch, and must be durable before anything is made for the object.
 *
 * @throws SlessError `conflict`, `not_found`
 */
export async function withFinalizer<K extends Kind>(
  object: ObjectOf<K>,
  store: Patches,
  owner: FieldOwner,
): Promise<ObjectOf<K>> {
  const { finalizers = [], uid, resourceVersion } = object.metadata;
  if (finalizers.includes(FINALIZER)) return object;
  const patch = { metadata: { finalizers: [...finalizers, FINALIZER] } };
  return store.patch(object.kind, refOf(object), patch, { owner, uid, resourceVersion });
}

/**
 * Lets a terminating object go, as far as sless holds it. Nothing of it may be left.
 *
 * @throws SlessError `conflict` when it was changed since it was read
 */
export async function withoutFinalizer<K extends Kind>(
  object: ObjectOf<K>,
  store: Patches,
  owner: FieldOwner,
): Promise<void> {
  const { finalizers = [], uid, resourceVersion } = object.metadata;
  if (!finalizers.includes(FINALIZER)) return;
  const patch = { metadata: { finalizers: finalizers.filter((finalizer) => finalizer !== FINALIZER) } };
  try {
    await store.patch(object.kind, refOf(object), patch, { owner, uid, resourceVersion });
  } catch (error) {
    // It went meanwhile, as was wanted.
    if (!isSlessError(error, "not_found")) throw error;
  }
}
