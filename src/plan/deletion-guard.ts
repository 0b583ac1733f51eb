/** Limits of deletions without an approval: `spec.deletionGuard` of a Repository. */
export interface DeletionGuard {
  readonly maxDeletions: number;
  /** Share of the repository's objects, 0–100; only counts when it has more than `SMALL_REPOSITORY`. */
  readonly maxPercent: number;
}

export const DEFAULT_GUARD: DeletionGuard = { maxDeletions: 10, maxPercent: 50 };

/** Up to so many objects a repository may lose by any share. */
export const SMALL_REPOSITORY = 4;

/**
 * The guard lets these deletions through. Approved ones are in neither number, so the answer is the same before and
 * after they were carried out; a run that died half-way only ever has fewer left to do, which stay allowed.
 *
 * @param deletions.count objects to delete without an approval.
 * @param deletions.wereHeld some of them are marked as held. Then the share is not looked at again: the objects that
 *   the same revision created have made it smaller, and a rename of everything would pass at the second look.
 * @param owned objects that the repository has now, these included.
 */
export function isWithinGuard(
  deletions: { count: number; wereHeld: boolean },
  owned: number,
  guard: DeletionGuard,
): boolean {
  if (deletions.count > guard.maxDeletions) return false;
  if (guard.maxPercent >= 100) return true;
  if (deletions.wereHeld) return false;
  return owned <= SMALL_REPOSITORY || deletions.count * 100 <= guard.maxPercent * owned;
}
