import fc from "fast-check";
import { expect, it } from "vitest";
import { type ReferenceReads, readReferences } from "../../src/garbage/references.ts";
import { digest, imageOf, objectsOf, workload } from "./garbage-world.ts";

const workloads = fc
  .record({
    kind: fc.constantFrom("Function" as const, "Service" as const, "FunctionJob" as const),
    name: fc.constantFrom("a", "b"),
    wants: fc.constantFrom("1", "2", undefined),
    serves: fc.constantFrom("1", "3", undefined),
  })
  .map(({ kind, name, wants, serves }) =>
    workload(kind, name, {
      ...(wants && { wants }),
      ...(serves && { serves }),
      imageRef: imageOf(name, serves ?? "0"),
    }),
  );
const moment = fc.record({
  objects: fc.array(workloads, { maxLength: 3 }),
  running: fc.array(fc.constantFrom(imageOf("a", "8"), imageOf("b", "9")), { maxLength: 2 }),
});

it("of any course of objects and of what runs, the references are those that are read without a memory", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { minLength: 1, maxLength: 6 }), fc.nat(), async (moments, repeated) => {
      const lastRead = {};
      for (const { objects, running } of [...moments, moments[repeated % moments.length]!]) {
        const reads: ReferenceReads = { store: objectsOf(...objects), running: async () => running };
        expect(await readReferences({ ...reads, lastRead })).toEqual(await readReferences(reads));
      }
    }),
  );
});

it("references are made once while nothing is written, and the store is asked each time", async () => {
  let asked = 0;
  const { list } = objectsOf(workload("Function", "a", { wants: "1" }));
  const store = {
    list: ((...args: Parameters<typeof list>) => {
      asked += 1;
      return list(...args);
    }) as typeof list,
  };
  const reads: ReferenceReads = { store, running: async () => [], lastRead: {} };
  const first = await readReferences(reads);
  expect(first.keys).toEqual(new Map([[`functions/demo/a/${digest("1")}.zip`, expect.any(String)]]));
  expect(await readReferences(reads)).toBe(first);
  expect(asked).toBe(6);
});
