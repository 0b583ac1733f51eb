import {
  ANNOTATIONS,
  type AnyObject,
  HELD,
  LABELS,
  type ObjectKey,
  type ObjectRef,
  ownerUidOf,
  REPOSITORY_CONTENT_KINDS,
  refOf,
  refText,
} from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import { eachLimited } from "./each-limited.ts";

/** A held deletion as somebody saw it; another object of the same name is not meant. */
export interface HeldDeletion {
  readonly ref: ObjectRef;
  readonly uid: string;
}

/** The objects of a repository whose deletion the guard holds. @throws SlessError `not_found` */
export async function heldDeletions(
  store: Pick<ResourceStore, "get" | "list">,
  repositoryKey: ObjectKey,
): Promise<HeldDeletion[]> {
  const repository = await store.get("Repository", repositoryKey);
  if (!repository) throw new SlessError("not_found", { what: `Repository ${repositoryKey.name}` });
  const { uid, namespace } = repository.metadata;
  const labels = { [LABELS.repository]: uid, [LABELS.deletion]: HELD };
  const lists = await Promise.all(REPOSITORY_CONTENT_KINDS.map((kind) => store.list(kind, { namespace, labels })));
  return lists
    .flatMap((list) => list.items as AnyObject[])
    .filter((object) => ownerUidOf(object) === uid && !object.metadata.deletionTimestamp)
    .map((object) => ({ ref: refOf(object), uid: object.metadata.uid }));
}

/**
 * Approves held deletions of a repository: all that are held now, or of `only` those that are. The approval stands on
 * each object itself and covers that very object as long as it is wanted deleted; the next sync carries it out.
 *
 * @returns what was approved, in the order of kind and name
 * @throws SlessError `not_found` when there is no such Repository
 */
export async function approveDeletions(
  store: Pick<ResourceStore, "get" | "list" | "patch">,
  repositoryKey: ObjectKey,
  only?: readonly HeldDeletion[],
): Promise<ObjectRef[]> {
  const repository = await store.get("Repository", repositoryKey);
  const held = await heldDeletions(store, repositoryKey);
  const chosen = only && new Set(only.map(({ ref, uid }) => `${refText(ref)} ${uid}`));
  const approved = held.filter(({ ref, uid }) => !chosen || chosen.has(`${refText(ref)} ${uid}`));
  // Together, for a sync begins soon after the last.
  await eachLimited(approved, async ({ ref, uid }) => {
    const annotations = { [ANNOTATIONS.deletionApproved]: `${repository!.metadata.uid}/${uid}` };
    await store.patch(ref.kind, ref, { metadata: { annotations } }, { owner: "approval", uid });
  });
  return approved.map(({ ref }) => ref);
}
