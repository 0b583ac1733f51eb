import { type AnyObject, type Kind, type ObjectKey, type ObjectOf, ownerUidOf, refOf, refText } from "../apis/index.ts";
import { isSlessError, SlessError } from "../errors/index.ts";
import type { MergePatch } from "../resources/index.ts";
import { isLeftToPatch, ownedRefusal } from "../writes/index.ts";
import type { RouteDeps, ServerDeps } from "./server-deps.ts";
import { isGoneSoon } from "./until-gone.ts";

/** A status is written between reading and writing now and then; nobody writes one so often. */
const TRIES = 10;

type Deps = Pick<ServerDeps, "store" | "placeOf">;

export interface Changing {
  readonly kind: Kind;
  readonly key: ObjectKey;
  /** Versions of which it must have one; undefined = whatever is there. */
  readonly expected: readonly string[] | undefined;
}

/**
 * Changes an object by what is decided upon it as it is now; when somebody else writes in between, it is decided anew.
 *
 * @param decide answers what to change, undefined for nothing; what it throws is the refusal
 * @throws SlessError `not_found`, `being_deleted`, `conflict` when it has none of the `expected` versions
 */
export async function changeObject(
  changing: Changing,
  decide: (live: ObjectOf<Kind>) => Promise<MergePatch | undefined>,
  { store }: Deps,
): Promise<ObjectOf<Kind>> {
  const { kind, key } = changing;
  return repeated(changing, async () => {
    const live = await readExpected(changing, { store });
    // Whatever is written to it now goes with it.
    if (live.metadata.deletionTimestamp) throw new SlessError("being_deleted", { what: refText(refOf(live)) });
    const patch = await decide(live);
    if (!patch) return live;
    const { uid, resourceVersion } = live.metadata;
    return store.patch(kind, key, patch, { owner: "api", uid, resourceVersion });
  });
}

/**
 * Deletes an object that no repository owns, and waits a moment for the end of its clean-up.
 *
 * @returns "terminating" when the clean-up goes on
 * @throws SlessError `not_found`, `conflict`, `owned_by_repository`
 */
export async function deleteObject(
  changing: Changing,
  deps: Deps & Pick<RouteDeps, "closing" | "goneWaitMs">,
): Promise<"deleted" | "terminating"> {
  const { kind, key } = changing;
  const { outcome, uid } = await repeated(changing, async () => {
    const live = await readExpected(changing, deps);
    await refuseOwned(live, deps);
    const { uid, resourceVersion } = live.metadata;
    return { outcome: await deps.store.delete(kind, key, { uid, resourceVersion }), uid };
  });
  if (outcome !== "terminating") return "deleted";
  return (await isGoneSoon({ kind, ...key }, uid, deps)) ? "deleted" : "terminating";
}

async function repeated<T>({ expected }: Changing, change: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await change();
    } catch (error) {
      if (!isSlessError(error, "conflict") || expected || left === 1) throw error;
    }
  }
}

async function readExpected({ kind, key, expected }: Changing, { store }: Pick<Deps, "store">) {
  const live = await store.get(kind, key);
  if (!live) throw new SlessError("not_found", { what: refText({ kind, ...key }) });
  if (expected && !expected.includes(live.metadata.resourceVersion))
    throw new SlessError("conflict", { what: refText(refOf(live)) });
  return live;
}

/**
 * @param merged fields of the spec that a merge names; undefined for every other write
 * @throws RefusedRequest `owned_by_repository`
 */
export async function refuseOwned(
  live: ObjectOf<Kind>,
  { store, placeOf }: Deps,
  merged?: readonly string[],
): Promise<void> {
  const object = live as AnyObject;
  const owner = ownerUidOf(object);
  if (owner === undefined) return;
  const { kind, metadata } = live;
  const repositories = await store.list("Repository", { namespace: metadata.namespace });
  const repository = repositories.items.find(({ metadata: { uid } }) => uid === owner);
  // An owner that exists no longer counts as nobody.
  if (!repository) return;
  if (merged && isLeftToPatch(kind, merged, await store.appliedFields(kind, metadata, "sync"))) return;
  const place = await placeOf(refOf(live), repository.metadata);
  throw ownedRefusal(object, repository.metadata.name, place);
}
