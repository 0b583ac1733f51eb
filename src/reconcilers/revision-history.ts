import { REVISIONS_MAX, type WorkloadRevision } from "../apis/index.ts";

/** What serves, and the commit that it is of, as far as that is known. */
export type ServingRevision = Omit<WorkloadRevision, "number" | "servedAt">;

/**
 * The history once `serving` serves: at its head, each source and image once. What served before and serves again gets
 * a new number. A later commit that leaves source and image as they are takes the place of the earlier one, so that
 * going back later restores the manifest as it last was. Pure; the same history is the same array.
 *
 * @param now RFC 3339
 */
export function historyAfter(
  before: readonly WorkloadRevision[] = [],
  serving: ServingRevision | undefined,
  now: string,
): readonly WorkloadRevision[] {
  if (!serving) return before;
  const [head] = before;
  const known = before.find((one) => isSame(one, serving));
  const place = placeOf(serving) ?? placeOf(known) ?? {};
  const { sourceDigest, imageRef } = serving;
  if (head && head === known) {
    if (head.revision === place.revision && head.path === place.path) return before;
    return [{ number: head.number, sourceDigest, imageRef, ...place, servedAt: head.servedAt }, ...before.slice(1)];
  }
  const number = Math.max(0, ...before.map((one) => one.number)) + 1;
  const others = before.filter((one) => one !== known);
  return [{ number, sourceDigest, imageRef, ...place, servedAt: now }, ...others].slice(0, REVISIONS_MAX);
}

function isSame(one: WorkloadRevision, { sourceDigest, imageRef }: ServingRevision): boolean {
  return one.sourceDigest === sourceDigest && one.imageRef === imageRef;
}

/** A path without its revision, or another one's, would name nothing. */
function placeOf(of: ServingRevision | undefined): Pick<ServingRevision, "revision" | "path"> | undefined {
  if (of?.revision === undefined) return undefined;
  return { revision: of.revision, ...(of.path === undefined ? {} : { path: of.path }) };
}
