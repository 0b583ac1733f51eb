import type { ObjectId } from "../git-reader.ts";

/**
 * The common ancestors of two commits that are no ancestors of another one; several after criss-cross merges.
 *
 * All common ancestors with their ancestors are a closed set, so the best ones are those that are nobody's parent in it.
 */
export async function bestCommonAncestors(
  a: ObjectId,
  b: ObjectId,
  parentsOf: (id: ObjectId) => Promise<readonly ObjectId[]>,
): Promise<ObjectId[]> {
  const ofA = await ancestors(a, parentsOf);
  const ofB = await ancestors(b, parentsOf);
  const common = [...ofA.keys()].filter((id) => ofB.has(id));
  const parents = new Set(common.flatMap((id) => ofA.get(id) ?? []));
  return common.filter((id) => !parents.has(id));
}

async function ancestors(from: ObjectId, parentsOf: (id: ObjectId) => Promise<readonly ObjectId[]>) {
  const known = new Map<ObjectId, readonly ObjectId[]>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (known.has(id)) continue;
    const parents = await parentsOf(id);
    known.set(id, parents);
    open.push(...parents);
  }
  return known;
}
