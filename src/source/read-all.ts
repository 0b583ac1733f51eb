import { SlessError } from "../errors/index.ts";
import type { ObjectId } from "./git-reader.ts";
import { isObjectId, shownRef } from "./ref-name.ts";

/** Gives what it finds to `visit`, and answers the ids that it did not find. Ids are well-formed and differ. */
export type FindMany<Found> = (
  ids: readonly ObjectId[],
  visit: (id: ObjectId, found: Found) => void,
) => Promise<readonly ObjectId[]>;

/**
 * Reads all ids as one kind of object. Whole or not at all.
 *
 * @param toValue undefined when the object is of another kind, or malformed
 * @throws SlessError `object_missing` for the first id that is missing, of another kind, or no id; what `find` throws
 */
export async function readAll<Found, Value>(
  repository: string,
  ids: readonly ObjectId[],
  find: FindMany<Found>,
  toValue: (found: Found, id: ObjectId) => Value | undefined,
): Promise<Map<ObjectId, Value>> {
  checkIds(repository, ids);
  const values = new Map<ObjectId, Value>();
  let unfit: ObjectId | undefined;
  const missing = await find([...new Set(ids)], (id, found) => {
    const value = toValue(found, id);
    if (value === undefined) unfit ??= id;
    else values.set(id, value);
  });
  const faulty = missing[0] ?? unfit;
  if (faulty !== undefined) throw objectMissing(repository, faulty);
  return values;
}

/** @throws SlessError `object_missing` for the first that is no id: what is none may be an option or a path */
export function checkIds(repository: string, ids: readonly string[]): void {
  const malformed = ids.find((id) => !isObjectId(id));
  if (malformed !== undefined) throw objectMissing(repository, shownRef(malformed));
}

export function objectMissing(repository: string, id: string, cause?: unknown): SlessError {
  return new SlessError("object_missing", { url: repository, id }, { cause });
}

export function closedReader(repository: string): SlessError {
  return new SlessError("repository_unreachable", { url: repository, cause: "the reader is closed" });
}
