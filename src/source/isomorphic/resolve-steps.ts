import * as fs from "node:fs";
import { expandOid } from "isomorphic-git";
import type { GitDirectory } from "../git-directory.ts";
import type { ObjectId } from "../git-reader.ts";
import { peelToCommit, type ReadObject, resolveExactly } from "../resolve-ref.ts";

const STEPS_MAX = 10_000;

/**
 * The commit of `<base>~2^1^`: a base (ref, full or short id) and steps to its ancestors; undefined when it names none
 * or is another kind of expression.
 */
export async function resolveSteps(
  place: GitDirectory,
  expression: string,
  read: ReadObject,
  parentsOf: (id: ObjectId) => Promise<readonly ObjectId[]>,
): Promise<ObjectId | undefined> {
  const [, base, steps] = /^([^~^]+)((?:[~^]\d{0,4})*)$/.exec(expression) ?? [];
  if (base === undefined || steps === undefined) return undefined;
  let at = (await resolveExactly(place, base, read))?.commit ?? (await shortId(place, base, read));
  for (const index of parentIndexes(steps)) {
    if (at === undefined) return undefined;
    at = (await parentsOf(at))[index];
  }
  return at;
}

/** `~2` is two first parents, `^2` one second parent, `^0` the commit itself. */
function parentIndexes(steps: string): number[] {
  const indexes: number[] = [];
  for (const [, sign, digits] of steps.matchAll(/([~^])(\d*)/g)) {
    const count = digits === "" ? 1 : Number(digits);
    if (sign === "~") indexes.push(...new Array<number>(count).fill(0));
    else if (count > 0) indexes.push(count - 1);
  }
  return indexes.slice(0, STEPS_MAX);
}

async function shortId(place: GitDirectory, prefix: string, read: ReadObject): Promise<ObjectId | undefined> {
  const oid = prefix.toLowerCase();
  if (!/^[0-9a-f]{4,40}$/.test(oid)) return undefined;
  try {
    const id = await expandOid({ fs, gitdir: place.commonDir, oid });
    return (await peelToCommit(id, read))?.commit;
  } catch {
    return undefined; // none, or several
  }
}
