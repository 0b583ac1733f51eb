import fc from "fast-check";
import { expect, it } from "vitest";
import { keyOf, type ObjectOf } from "../../../src/apis/index.ts";
import type { ListOptions, ResourceStore } from "../../../src/resources/index.ts";
import { functionIntent } from "../../support/function-intent.ts";
import { memoryStore } from "../../support/memory-store.ts";

const SELECTIONS: ListOptions[] = [{}, { namespace: "a" }, { labels: { tier: "web" } }];
const owner = { owner: "api" } as const;

const step = fc.record({
  act: fc.constantFrom("apply", "label", "unlabel", "status", "delete", "finalize", "release"),
  namespace: fc.constantFrom("a", "b"),
  name: fc.constantFrom("x", "y"),
  number: fc.integer({ min: 1, max: 9 }),
  /** A watcher starts before this step. */
  watched: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(store: ResourceStore, { act, namespace, name, number }: Step): Promise<unknown> {
  const key = { namespace, name };
  const live = await store.get("Function", key);
  if (act === "apply") return store.apply(functionIntent(namespace, name, { replicas: number }), { owner: "sync" });
  if (!live) return undefined;
  const patch = (metadata: object) => store.patch("Function", key, { metadata }, owner);
  if (act === "label") return patch({ labels: { tier: number > 5 ? "web" : "job" } });
  if (act === "unlabel") return patch({ labels: { tier: null } });
  if (act === "status") return store.updateStatus(live, { replicas: number });
  if (act === "delete") return store.delete("Function", key);
  if (act === "release") return patch({ finalizers: null });
  return live.metadata.deletionTimestamp ? undefined : patch({ finalizers: ["sless.kube5s.ru/cleanup"] });
}

/** What a reader knows who listed at some time and then follows the watch up to `until`. */
async function followed(store: ResourceStore, start: Awaited<ReturnType<typeof listed>>, until: string) {
  const known = new Map(start.items.map((object) => [keyOf(object), object]));
  const abort = new AbortController();
  const options = { ...start.selection, from: start.resourceVersion, signal: abort.signal };
  for await (const event of store.watch("Function", options)) {
    if (event.type === "BOOKMARK") {
      if (event.resourceVersion === until) abort.abort();
      continue;
    }
    const key = keyOf(event.object);
    expect(event.type === "ADDED").toBe(!known.has(key));
    if (event.type === "DELETED") known.delete(key);
    else known.set(key, event.object);
  }
  return [...known.values()].sort(byKey);
}

async function listed(store: ResourceStore, selection: ListOptions) {
  return { ...(await store.list("Function", selection)), selection };
}

function byKey(a: ObjectOf<"Function">, b: ObjectOf<"Function">): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

it("a list and the watch after it lead to every later list, whatever was written between", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const store = await memoryStore();
      const starts: Awaited<ReturnType<typeof listed>>[] = [];
      for (const one of steps) {
        if (one.watched) for (const selection of SELECTIONS) starts.push(await listed(store, selection));
        await take(store, one);
      }
      for (const start of starts) {
        const { items, resourceVersion } = await store.list("Function", start.selection);
        expect(await followed(store, start, resourceVersion)).toEqual(items);
      }
      await store.close();
    }),
    { numRuns: 100 },
  );
});
