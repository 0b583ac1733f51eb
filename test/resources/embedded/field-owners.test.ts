import { describe, expect, it } from "vitest";
import { applyFields, type FieldOwners } from "../../../src/resources/embedded/field-owners.ts";
import { fieldsOf, writableOf } from "../../../src/resources/embedded/fields.ts";

interface Case {
  live: object;
  owners: FieldOwners;
  wanted: object;
  spec: object;
  ownersAfter: FieldOwners;
}

const cases: Record<string, Case> = {
  "a map that is left with mere defaults goes as a whole": {
    live: { deletionGuard: { maxDeletions: 5, maxPercent: 50 } },
    owners: { sync: ["spec/deletionGuard/maxDeletions"] },
    wanted: {},
    spec: {},
    ownersAfter: { sync: ["spec"] },
  },
  "a map in which somebody owns a field keeps its defaults": {
    live: { deletionGuard: { maxDeletions: 5, maxPercent: 50 }, writeBack: { mode: "reject" } },
    owners: { sync: ["spec/deletionGuard/maxDeletions"], api: ["spec/deletionGuard/maxPercent"] },
    wanted: { writeBack: { mode: "commit" } },
    spec: { deletionGuard: { maxPercent: 50 }, writeBack: { mode: "commit" } },
    ownersAfter: { api: ["spec/deletionGuard/maxPercent"], sync: ["spec/writeBack/mode"] },
  },
  "a map of two owners is emptied by the second": {
    live: { env: { A: "1" } },
    owners: { sync: ["spec/env/A"] },
    wanted: { runtime: "go1.23" },
    spec: { runtime: "go1.23" },
    ownersAfter: { sync: ["spec/runtime"] },
  },
  "an empty map that was applied stays empty": {
    live: { env: { A: "1" } },
    owners: { sync: ["spec/env/A"] },
    wanted: { env: {} },
    spec: { env: {} },
    ownersAfter: { sync: ["spec/env"] },
  },
  "an owner that only patched a field keeps it when it applies without it": {
    live: { memoryMB: 256, runtime: "go1.23" },
    owners: { "sync:update": ["spec/memoryMB"] },
    wanted: { runtime: "go1.23" },
    spec: { memoryMB: 256, runtime: "go1.23" },
    ownersAfter: { sync: ["spec/runtime"], "sync:update": ["spec/memoryMB"] },
  },
};

describe("field owners", () => {
  it.each(Object.entries(cases))("%s", (_name, { live, owners, wanted, spec, ownersAfter }) => {
    const applied = applyFields(fieldsOf({ spec: live }), owners, "sync", fieldsOf({ spec: wanted }));
    expect(writableOf(applied.fields).spec).toEqual(spec);
    expect(applied.owners).toEqual(ownersAfter);
  });
});
