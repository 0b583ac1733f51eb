import fc from "fast-check";
import { expect, it } from "vitest";
import { ANNOTATIONS, type AnyObject, ownerAnnotation } from "../../src/apis/index.ts";
import { type Inventory, inventoryOf } from "../../src/sync/inventory.ts";
import type { LiveObjects } from "../../src/sync/live-reads.ts";

const OURS = "uid-ours";

/** An object as a store has it; `owner` undefined: of nobody. */
function object(
  kind: "Function" | "Trigger",
  name: string,
  owner?: string,
  file?: string,
  isEnding = false,
): AnyObject {
  const metadata = { name, namespace: "default" };
  const annotations = {
    ...(owner !== undefined && { [ANNOTATIONS.owner]: ownerAnnotation(owner, { kind, metadata }) }),
    ...(file !== undefined && { [ANNOTATIONS.path]: file }),
  };
  const ending = isEnding ? { deletionTimestamp: "2024-01-02T00:00:00Z" } : {};
  return { kind, metadata: { ...metadata, annotations, ...ending }, spec: {} } as unknown as AnyObject;
}

const objects = fc
  .record({
    kind: fc.constantFrom("Function" as const, "Trigger" as const),
    name: fc.constantFrom("a", "b", "c"),
    owner: fc.constantFrom(OURS, OURS, "uid-theirs", undefined),
    file: fc.constantFrom("x/function.yaml", "y/function.yaml", undefined),
    isEnding: fc.boolean(),
  })
  .map(({ kind, name, owner, file, isEnding }) => object(kind, name, owner, file, isEnding));
const lists = fc.uniqueArray(objects, {
  maxLength: 5,
  selector: ({ kind, metadata }) => `${kind}/${metadata.name}`,
});
const liveOf = (items: readonly AnyObject[]): LiveObjects => ({ items, repositories: new Map(), version: undefined });

it("of any course of live objects the inventory is the same as without a memory", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(lists, fc.boolean()), { maxLength: 8 }), (course) => {
      let before: Inventory | undefined;
      let items: readonly AnyObject[] = [];
      for (const [next, isAnew] of course) {
        // Often the same objects again, one of them another version.
        items = isAnew || items.length === 0 ? next : items.with(0, { ...items[0]!, spec: {} } as AnyObject);
        const live = liveOf(items);
        before = inventoryOf(live, OURS, before);
        expect(before).toEqual(inventoryOf(live, OURS));
      }
    }),
  );
});

it.each<[string, AnyObject]>([
  ["another file", object("Function", "a", OURS, "y/function.yaml")],
  ["another owner", object("Function", "a", "uid-theirs", "x/function.yaml")],
  ["an end", object("Function", "a", OURS, "x/function.yaml", true)],
  ["another name", object("Function", "b", OURS, "x/function.yaml")],
  ["another kind", object("Trigger", "a", OURS, "x/function.yaml")],
])("%s of an object is seen", (_what, after) => {
  const before = inventoryOf(liveOf([object("Function", "a", OURS, "x/function.yaml")]), OURS);
  const live = liveOf([after]);
  expect(inventoryOf(live, OURS, before)).toEqual(inventoryOf(live, OURS));
  expect(inventoryOf(live, OURS)).not.toEqual({ ...before, live });
});
