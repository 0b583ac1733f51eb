import semver from "semver";
import { SlessError } from "../errors/index.ts";
import { shownRef } from "./ref-name.ts";

/** Whether it is a range of versions as npm writes them (`1.x`, `>=1.2.0 <2`). */
export function isVersionRange(text: string): boolean {
  return semver.validRange(text) !== null;
}

/**
 * The newest of the tags that are versions in a range, with or without `v` before them. Previews (`2.0.0-rc.1`) only
 * where the range names one.
 *
 * @returns undefined when there is none
 * @throws SlessError `semver_invalid` when the range is none
 */
export function newestTag(names: readonly string[], range: string): string | undefined {
  if (!isVersionRange(range)) throw new SlessError("semver_invalid", { range: shownRef(range) });
  const inRange = names.filter((name) => semver.valid(name) !== null && semver.satisfies(name, range));
  // Of equal versions (`1.0.0` and `v1.0.0`) always the same one, whatever their order.
  return inRange.sort((a, b) => semver.compareBuild(b, a) || (a < b ? 1 : -1))[0];
}
