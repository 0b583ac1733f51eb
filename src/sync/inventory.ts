import { ANNOTATIONS, type AnyObject, ownerUidOf, refOf, refText } from "../apis/index.ts";
import type { KnownObjects } from "../desired/index.ts";
import type { LiveObjects } from "./live-reads.ts";

/** The repository's share of the live objects, as long as those are the same. */
export interface Inventory extends KnownObjects {
  readonly live: LiveObjects;
  /** Without those that are being deleted. */
  readonly count: number;
}

/**
 * What of the live objects is the repository's, and in which files it says that it stands. Pure.
 *
 * @param before an earlier answer for the same UID; what of it still holds is taken over
 */
export function inventoryOf(live: LiveObjects, uid: string, before?: Inventory): Inventory {
  if (before && isSameShare(live.items, before.live.items)) return { ...before, live };
  const manifestFiles = new Map<string, string[]>();
  let count = 0;
  for (const object of live.items) {
    if (ownerUidOf(object) !== uid) continue;
    if (!object.metadata.deletionTimestamp) count += 1;
    const file = object.metadata.annotations?.[ANNOTATIONS.path];
    if (file === undefined) continue;
    // Not pushed: an array that grows takes room for sixteen more.
    manifestFiles.set(file, (manifestFiles.get(file) ?? []).concat(refText(refOf(object))));
  }
  return { live, count, manifestFiles };
}

/** The same objects, which may have changed, but neither hands nor files. */
function isSameShare(items: readonly AnyObject[], before: readonly AnyObject[]): boolean {
  return (
    items.length === before.length &&
    items.every((object, at) => object === before[at] || isSameEntry(object, before[at]!))
  );
}

function isSameEntry(object: AnyObject, before: AnyObject): boolean {
  const [{ metadata: a }, { metadata: b }] = [object, before];
  return (
    object.kind === before.kind &&
    a.name === b.name &&
    a.namespace === b.namespace &&
    a.deletionTimestamp === b.deletionTimestamp &&
    a.annotations?.[ANNOTATIONS.owner] === b.annotations?.[ANNOTATIONS.owner] &&
    a.annotations?.[ANNOTATIONS.path] === b.annotations?.[ANNOTATIONS.path]
  );
}
