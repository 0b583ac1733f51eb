import { isDeepStrictEqual } from "node:util";

/** RFC 7396: the target with a JSON merge patch on it; null removes. Both stay as they are. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const result = new Map(isMap(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/**
 * The merge patch that turns one JSON value without nulls into another; undefined when they are equal. What only
 * `before` has is removed.
 */
export function mergePatchBetween(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const changes: [string, unknown][] = [];
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) changes.push([key, null]);
  for (const [key, value] of Object.entries(after)) {
    const present = Object.hasOwn(before, key) ? before[key] : undefined;
    const change = isMap(value) && isMap(present) ? mergePatchBetween(present, value) : changed(present, value);
    if (change !== undefined) changes.push([key, change]);
  }
  return changes.length > 0 ? Object.fromEntries(changes) : undefined;
}

function changed(before: unknown, after: unknown): unknown {
  return isDeepStrictEqual(before, after) ? undefined : after;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
