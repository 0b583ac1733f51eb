import fc from "fast-check";
import { expect, it } from "vitest";
import { fairQueue } from "../../../src/build/kaniko/fair-queue.ts";

interface Waiting {
  readonly tenant: string;
  readonly id: string;
}

/** What an installation with these limits does: builds come, and builds end. */
function play(limits: { limit: number; limitPerTenant: number }, moves: readonly (Waiting | "end")[]) {
  const queue = fairQueue<Waiting>(limits);
  const running: Waiting[] = [];
  const started: Waiting[] = [];
  const counts = () => {
    const map = new Map<string, number>();
    for (const { tenant } of running) map.set(tenant, (map.get(tenant) ?? 0) + 1);
    return map;
  };
  const most = { all: 0, ofTenant: 0 };
  const pump = () => {
    for (let next = queue.next(counts()); next; next = queue.next(counts())) {
      running.push(next);
      started.push(next);
    }
    most.all = Math.max(most.all, running.length);
    most.ofTenant = Math.max(most.ofTenant, ...counts().values());
  };
  for (const move of moves) {
    if (move === "end") running.shift();
    else queue.put(move.tenant, move.id, move);
    pump();
  }
  return { queue, running, started, most, pump };
}

const limits = fc.record({ limit: fc.integer({ min: 1, max: 5 }), limitPerTenant: fc.integer({ min: 1, max: 3 }) });
const tenant = fc.constantFrom("a", "b", "c", "d");
const move = fc.oneof(
  tenant.map((name) => ({ tenant: name })),
  fc.constant("end" as const),
);
const moves = fc
  .array(move, { maxLength: 60 })
  .map((all) => all.map((each, index) => (each === "end" ? each : { ...each, id: `${each.tenant}${index}` })));

it("no limit is ever exceeded", () => {
  fc.assert(
    fc.property(limits, moves, (allowed, played) => {
      const { most } = play(allowed, played);
      expect(most.all).toBeLessThanOrEqual(allowed.limit);
      expect(most.ofTenant).toBeLessThanOrEqual(allowed.limitPerTenant);
    }),
  );
});

it("nobody waits while there is room", () => {
  fc.assert(
    fc.property(limits, moves, (allowed, played) => {
      const { queue, running, started } = play(allowed, played);
      const waiting = played.filter((each) => each !== "end" && !started.includes(each)) as Waiting[];
      expect(queue.size).toBe(waiting.length);
      const of = (name: string) => running.filter(({ tenant: other }) => other === name).length;
      if (running.length < allowed.limit)
        for (const { tenant: name } of waiting) expect(of(name)).toBe(allowed.limitPerTenant);
    }),
  );
});

it("everything is begun once when builds end, and of one tenant in the order in which it came", () => {
  fc.assert(
    fc.property(limits, moves, (allowed, played) => {
      const { started, running, pump } = play(allowed, played);
      while (running.length > 0) {
        running.shift();
        pump();
      }
      const wanted = played.filter((each) => each !== "end") as Waiting[];
      for (const name of ["a", "b", "c", "d"]) {
        const ids = (list: readonly Waiting[]) => list.filter((each) => each.tenant === name).map(({ id }) => id);
        expect(ids(started)).toEqual(ids(wanted));
      }
    }),
  );
});

it("a tenant with many builds does not keep another waiting for more than its turn", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 40 }), (limit, count) => {
      const many = Array.from({ length: count }, (_, index) => ({ tenant: "many", id: `m${index}` }));
      const { started, running, pump } = play({ limit, limitPerTenant: limit }, [...many, { tenant: "few", id: "f" }]);
      const before = started.length;
      running.shift();
      pump();
      running.shift();
      pump();
      const then = started.slice(before).map(({ id }) => id);
      expect(limit === 1 ? then : then.slice(0, 2)).toContain("f");
    }),
  );
});

it("what is put twice keeps its place, with what was put last", () => {
  const queue = fairQueue<string>({ limit: 1, limitPerTenant: 1 });
  queue.put("a", "1", "first");
  queue.put("a", "2", "second");
  queue.put("b", "1", "first, said anew");
  expect(queue.size).toBe(2);
  expect(queue.get("1")).toBe("first, said anew");
  expect(queue.next(new Map())).toBe("first, said anew");
  expect(queue.next(new Map([["a", 1]]))).toBeUndefined();
  expect(queue.next(new Map())).toBe("second");
  expect(queue.size).toBe(0);
});

it("what is removed is not begun, and removing it twice is no error", () => {
  const queue = fairQueue<string>({ limit: 1, limitPerTenant: 1 });
  queue.put("a", "1", "gone");
  queue.remove("1");
  queue.remove("1");
  expect(queue.get("1")).toBeUndefined();
  expect(queue.next(new Map())).toBeUndefined();
});
