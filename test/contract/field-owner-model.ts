import fc from "fast-check";
import { expect, it } from "vitest";
import type { ObjectKey, ObjectOf } from "../../src/apis/index.ts";
import type { FieldOwner, ResourceStore } from "../../src/resources/index.ts";
import { functionIntent } from "../support/function-intent.ts";
import type { OpenedStore } from "./opened-store.ts";

const NAMES = ["A", "B", "__proto__", "constructor"];

type Env = Record<string, string>;
interface Step {
  by: FieldOwner;
  /** undefined removes in a patch and is left out of an apply. */
  env: Map<string, string | undefined>;
}

const env = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom("1", "2", undefined)), {
    selector: ([name]) => name,
  })
  .map((entries) => new Map(entries));
const steps = fc.array(fc.record({ by: fc.constantFrom<FieldOwner>("sync", "reconciler", "api"), env }), {
  minLength: 1,
  maxLength: 20,
});

/** The rules of field owners for one map, said as plainly as possible; `api` patches, the others apply. */
function modelOf(list: readonly Step[]): Env {
  const fields = new Map<string, { value: string; owners: Set<FieldOwner> }>();
  for (const { by, env } of list) {
    for (const [name, value] of env) {
      const field = fields.get(name);
      if (value === undefined) by === "api" && fields.delete(name);
      else if (field?.value !== value) fields.set(name, { value, owners: new Set([by]) });
      else if (by !== "api") field.owners.add(by);
    }
    if (by === "api") continue;
    for (const [name, { owners }] of fields)
      if (env.get(name) === undefined && owners.delete(by) && owners.size === 0) fields.delete(name);
  }
  return Object.fromEntries([...fields].map(([name, { value }]) => [name, value]));
}

async function write(store: ResourceStore, key: ObjectKey, { by, env }: Step): Promise<ObjectOf<"Function">> {
  if (by === "api") {
    const patch = Object.fromEntries(Array.from(env, ([name, value]) => [name, value ?? null]));
    return store.patch("Function", key, { spec: { env: patch } }, { owner: by });
  }
  const wanted = Object.fromEntries([...env].filter(([, value]) => value !== undefined)) as Env;
  const some = Object.keys(wanted).length > 0 ? { env: wanted } : {};
  return store.apply(functionIntent(key.namespace, key.name, some), { owner: by });
}

/** Any sequence of applies and patches by several owners ends as the model says, and its last write again is no change. */
export function fieldOwnerModel(open: () => Promise<OpenedStore>): void {
  it("any interleaving of applies and patches ends with the fields of the model", async () => {
    const { store, namespace } = await open();
    let objects = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        objects += 1;
        const key = { namespace, name: `hello-${objects}` };
        await store.apply(functionIntent(namespace, key.name), { owner: "hold" });
        for (const step of list) await write(store, key, step);
        const after = await store.get("Function", key);
        expect(Object.entries(after?.spec.env ?? {}).sort()).toEqual(Object.entries(modelOf(list)).sort());
        expect(await write(store, key, list.at(-1)!)).toEqual(after);
      }),
      { numRuns: 60 },
    );
  });
}
