import fc from "fast-check";
import { expect, it } from "vitest";
import { keyOf, type ObjectOf } from "../../src/apis/index.ts";
import { createInformer } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { eventually } from "../support/eventually.ts";
import { functionIntent } from "../support/function-intent.ts";
import { interruptible } from "../support/interruptible-store.ts";
import { memoryStore } from "../support/memory-store.ts";

const step = fc.record({
  act: fc.constantFrom("apply", "observed apply", "delete", "interrupt", "expire", "turn"),
  name: fc.constantFrom("a", "b", "c"),
  replicas: fc.integer({ min: 1, max: 9 }),
});

it("after any writes and interruptions cache, index and heard events agree with the store", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const store = await memoryStore();
      const { faulty, interrupt } = interruptible(store);
      const informer = createInformer<"Function", "replicas">(faulty, "Function", {
        indexes: { replicas: ({ spec }) => [String(spec.replicas)] },
        backOff: { baseMs: 0 },
      });
      const wrong: string[] = [];
      const heard = new Map<string, ObjectOf<"Function">>();
      informer.onEvent((type, object, before) => {
        if (heard.get(keyOf(object)) !== before) wrong.push(`${type} ${keyOf(object)}`);
        if ((type === "ADDED") !== (before === undefined)) wrong.push(`${type} ${keyOf(object)}`);
        if (type === "DELETED") heard.delete(keyOf(object));
        else heard.set(keyOf(object), object);
      });
      const abort = new AbortController();
      const ended = informer.start(abort.signal);
      for (const { act, name, replicas } of steps) {
        const key = { namespace: "demo", name };
        if (act === "interrupt") interrupt(new SlessError("storage_unavailable"));
        if (act === "expire") interrupt(new SlessError("conflict"));
        if (act === "turn") await new Promise((resolve) => setImmediate(resolve));
        if (act === "delete") await store.delete("Function", key);
        if (!act.endsWith("apply")) continue;
        const applied = await store.apply(functionIntent("demo", name, { replicas }), { owner: "sync" });
        if (act === "apply") continue;
        informer.observe(applied);
        expect(informer.get(key)?.spec.replicas).toBe(replicas);
      }
      await informer.synced();
      const { items } = await store.list("Function");
      const last = await store.create(functionIntent("demo", "last", { replicas: 50 }), { owner: "api" });
      await eventually(
        "the last object came",
        () => informer.get(last.metadata),
        (object) => object !== undefined,
      );
      const all = [...items, last].map(keyOf).sort();
      expect(informer.list().map(keyOf).sort()).toEqual(all);
      for (const object of items) {
        expect(informer.get(object.metadata)).toBe(object);
        expect(informer.byIndex("replicas", String(object.spec.replicas))).toContain(object);
      }
      expect(wrong).toEqual([]);
      expect([...heard.values()]).toEqual(expect.arrayContaining([...items, last]));
      expect([...heard.keys()].sort()).toEqual(all);
      abort.abort();
      await ended;
      await store.close();
    }),
    { numRuns: 60 },
  );
});
