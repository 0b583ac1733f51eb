import fc from "fast-check";
import { expect, it } from "vitest";
import type { FieldOwner } from "../../../src/resources/index.ts";
import { functionIntent } from "../../support/function-intent.ts";
import { memoryStore } from "../../support/memory-store.ts";

const NAMES = ["A", "B", "__proto__", "constructor"];
const KEY = { namespace: "demo", name: "hello" };

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

it("any interleaving of applies and patches ends with the fields of the model", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (list, atOnce) => {
      const store = await memoryStore();
      await store.apply(functionIntent(KEY.namespace, KEY.name), { owner: "hold" });
      const write = ({ by, env }: Step) => {
        if (by === "api") {
          const patch = Object.fromEntries(Array.from(env, ([name, value]) => [name, value ?? null]));
          return store.patch("Function", KEY, { spec: { env: patch } }, { owner: by });
        }
        const wanted = Object.fromEntries([...env].filter(([, value]) => value !== undefined)) as Env;
        const some = Object.keys(wanted).length > 0 ? { env: wanted } : {};
        return store.apply(functionIntent(KEY.namespace, KEY.name, some), { owner: by });
      };
      if (atOnce) await Promise.all(list.map(write));
      else for (const step of list) await write(step);
      const { spec } = (await store.get("Function", KEY))!;
      expect(Object.entries(spec.env ?? {}).sort()).toEqual(Object.entries(modelOf(list)).sort());
      expect(await Promise.all(list.slice(-1).map(write))).toEqual([await store.get("Function", KEY)]);
      await store.close();
    }),
    { numRuns: 200 },
  );
});
