import type { FieldOwner } from "../resource-store.ts";
import { type Fields, isBelow, overlaid, parentOf, sameJson } from "./fields.ts";

/**
 * Paths (`fields.ts`) by owner. What an owner applied and what it created or patched is held apart (`sync`,
 * `sync:update`), as Kubernetes does: an apply takes back only what was applied.
 */
export type FieldOwners = Readonly<Record<string, readonly string[]>>;

export const NO_OWNERS: FieldOwners = {};

/**
 * Server-side apply, forced: sets what is wanted and removes what this owner applied before, left out now, and
 * nobody else has. Others lose the fields whose value changes; an equal value is shared.
 */
export function applyFields(
  live: Fields,
  owners: FieldOwners,
  owner: FieldOwner,
  wanted: Fields,
): { fields: Map<string, unknown>; owners: FieldOwners } {
  const others = Object.entries(owners).filter(([name]) => name !== owner);
  const kept = new Set([...wanted.keys(), ...others.flatMap(([, paths]) => paths)]);
  const rest = new Map(live);
  for (const path of owners[owner] ?? []) if (!isOwned(kept, path)) removeTopmost(rest, path, kept);
  const fields = overlaid(rest, wanted);
  const lost = new Set([...wanted].filter(([path, value]) => !sameJson(live.get(path), value)).map(([path]) => path));
  const remaining = others.map(([name, paths]): Owned => [name, paths.filter((path) => !lost.has(path))]);
  return { fields, owners: ownersFrom([...remaining, [owner, [...wanted.keys()].sort()]]) };
}

/** Owners after a create or patch by `owner`: it alone has the leaves that changed, nobody those that went. */
export function ownersAfterUpdate(before: Fields, after: Fields, owners: FieldOwners, owner: FieldOwner): FieldOwners {
  const set = [...after].filter(([path, value]) => !before.has(path) || !sameJson(before.get(path), value));
  const changed = new Set(set.map(([path]) => path));
  const isKept = (path: string) => !changed.has(path) && (after.has(path) || !before.has(path));
  const updater = `${owner}:update`;
  const remaining = Object.entries(owners).map(([name, paths]): Owned => [name, paths.filter(isKept)]);
  const own = [...(owners[updater] ?? []).filter(isKept), ...changed].sort();
  return ownersFrom([...remaining.filter(([name]) => name !== updater), [updater, own]]);
}

type Owned = readonly [string, readonly string[]];

function ownersFrom(entries: readonly Owned[]): FieldOwners {
  return Object.fromEntries(entries.filter(([, paths]) => paths.length > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Somebody has the path, or something below it. */
function isOwned(owned: ReadonlySet<string>, path: string): boolean {
  if (owned.has(path)) return true;
  for (const other of owned) if (isBelow(other, path)) return true;
  return false;
}

/**
 * Removes a path together with the maps around it in which nobody owns anything any more, so that neither an emptied
 * map nor one of mere defaults stays behind. `spec` itself stays.
 */
function removeTopmost(fields: Map<string, unknown>, path: string, owned: ReadonlySet<string>): void {
  let top = path;
  for (let above = parentOf(top); above?.includes("/") && !isOwned(owned, above); above = parentOf(above)) top = above;
  for (const field of fields.keys()) if (field === top || isBelow(field, top)) fields.delete(field);
}
