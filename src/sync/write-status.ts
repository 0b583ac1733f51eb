import { isDeepStrictEqual } from "node:util";
import type { ObjectOf, RepositoryStatus } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import type { ResourceStore } from "../resources/index.ts";

const TRIES = 3;

/**
 * Writes a Repository's status once; an equal one is not sent. When the object was changed meanwhile, the status is
 * made anew from the present one, for what the run did must not be lost.
 *
 * @returns the statuses before and after; undefined when the Repository is gone or another one has its name
 */
export async function writeStatus(
  store: ResourceStore,
  repository: ObjectOf<"Repository">,
  statusFrom: (previous: RepositoryStatus | undefined) => RepositoryStatus,
): Promise<{ before: RepositoryStatus | undefined; after: RepositoryStatus } | undefined> {
  let present: ObjectOf<"Repository"> | undefined = repository;
  for (let left = TRIES; present?.metadata.uid === repository.metadata.uid; left -= 1) {
    const before = present.status;
    const after = statusFrom(before);
    if (isDeepStrictEqual(before ?? {}, after)) return { before, after };
    try {
      await store.updateStatus<"Repository">(present, after);
      return { before, after };
    } catch (error) {
      if (isSlessError(error, "not_found")) return undefined;
      if (left === 1 || !isSlessError(error, "conflict")) throw error;
    }
    present = await store.get("Repository", repository.metadata);
  }
  return undefined;
}
