import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ANNOTATIONS, type AnyObject, isDeletionApproved, ownerUidOf, refOf, refText } from "../../src/apis/index.ts";
import {
  type Action,
  createPlanner,
  type DesiredObject,
  type DesiredState,
  isWriting,
  type PlanRequest,
  planChanges,
  refOfAction,
  toLine,
} from "../../src/plan/index.ts";
import {
  applyActions,
  approved,
  fn,
  job,
  nobodys,
  OURS,
  ours,
  request,
  service,
  source,
  theirs,
  trigger,
} from "./objects.ts";

const RUNS = { numRuns: 300 };
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const given = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const names = fc.constantFrom("a", "b", "c", "d", "e", "f");
const annotations = fc
  .record({
    [ANNOTATIONS.adopt]: optional(fc.constant("enabled")),
    [ANNOTATIONS.prune]: fc.option(fc.constant("disabled"), { nil: undefined, freq: 8 }),
    [ANNOTATIONS.reconcile]: fc.option(fc.constant("disabled"), { nil: undefined, freq: 8 }),
  })
  .map((fields) => given(fields) as Record<string, string>);
const spec = fc
  .record({
    memoryMB: optional(fc.constantFrom(128, 256)),
    replicas: optional(fc.constantFrom(0, 2)),
    env: optional(fc.constantFrom({ A: "1" }, { B: "2" })),
  })
  .map(given);

/** An object as a manifest may want it. */
const wanted: fc.Arbitrary<DesiredObject> = fc
  .record({
    make: fc.constantFrom(fn, service, job, trigger),
    name: names,
    spec,
    annotations,
    code: fc.constantFrom("one", "two"),
    file: fc.constantFrom("x/function.yaml", "y/function.yaml"),
  })
  .map(({ make, name, spec, annotations, code, file }) => {
    if (make === trigger) return trigger(name, {}, { file, annotations });
    if (make === job) return job(name, given({ env: (spec as { env?: object }).env }), { file, annotations });
    return (make as typeof fn)(name, spec, { file, annotations, source: source(code) });
  });

/** An object as it may stand in a cluster. */
const present: fc.Arbitrary<AnyObject> = fc
  .record({
    object: wanted,
    owner: fc.constantFrom("ours", "ours", "ours", "theirs", "dead", "nobody"),
    deleting: fc.boolean(),
    approve: fc.boolean(),
  })
  .map(({ object, owner, deleting, approve }) => {
    if (owner === "theirs") return theirs(object);
    if (owner === "dead") return theirs(object, "uid-dead");
    if (owner === "nobody") return nobodys(object);
    const live = ours(object, { deleting: deleting && approve });
    return approve ? approved(live) : live;
  });

function oneOfEach<T>(items: readonly T[], refOfItem: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [refOfItem(item), item])).values()];
}

const requests: fc.Arbitrary<PlanRequest> = fc
  .record({
    desired: fc.array(wanted, { maxLength: 14 }),
    live: fc.array(present, { maxLength: 20 }),
    blocked: fc.array(names, { maxLength: 2 }),
    blocksPruning: fc.boolean(),
    prune: fc.boolean(),
    maxDeletions: fc.integer({ min: 0, max: 6 }),
  })
  .map(({ desired, live, blocked, blocksPruning, prune, maxDeletions }) => {
    // What `nameClashes` would block is left out.
    const rival = ({ intent }: DesiredObject) =>
      `${intent.kind.replace("Service", "Function")}/${intent.metadata.name}`;
    const state: Partial<DesiredState> = {
      blocked: new Set(blocked.map((name) => `Function/default/${name}`)),
      blocksPruning,
    };
    return request(
      oneOfEach(desired, rival),
      oneOfEach(live, (object) => refText(refOf(object))),
      { ...state, prune, guard: { maxDeletions, maxPercent: 50 } },
    );
  });

const isDelete = (action: Action): action is Extract<Action, { kind: "delete" }> => action.kind === "delete";

describe("for any desired and live objects", () => {
  it("the plan after the plan was applied writes nothing more than what waited", () => {
    fc.assert(
      fc.property(requests, (first) => {
        const live = applyActions(first.live, planChanges(first).actions);
        const { actions } = planChanges({ ...first, live });
        const waited = new Set(
          planChanges(first)
            .actions.filter(({ kind }) => kind === "wait")
            .map((action) => refText(refOfAction(action))),
        );
        const writing = actions.filter((action) => isWriting(action) && !waited.has(refText(refOfAction(action))));
        expect(writing.map(toLine)).toEqual([]);
      }),
      RUNS,
    );
  });

  it("nothing is deleted that the repository does not own, wants, or may not prune", () => {
    fc.assert(
      fc.property(requests, (one) => {
        const wantedRefs = new Set(one.desired.objects.map(({ intent }) => refText(refOf(intent))));
        for (const { live } of planChanges(one).actions.filter(isDelete)) {
          expect(ownerUidOf(live)).toBe(OURS);
          expect(wantedRefs).not.toContain(refText(refOf(live)));
          expect(one.desired.blocked).not.toContain(refText(refOf(live)));
          expect(live.metadata.annotations?.[ANNOTATIONS.prune]).toBeUndefined();
          expect(live.metadata.deletionTimestamp).toBeUndefined();
          expect(one.repository.prune && !one.desired.blocksPruning).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("deletions without an approval stay within the guard", () => {
    fc.assert(
      fc.property(requests, (one) => {
        const deletions = planChanges(one).actions.filter(isDelete);
        const unapproved = deletions.filter(({ allowedBy }) => allowedBy === "guard");
        expect(unapproved.length).toBeLessThanOrEqual(one.repository.guard.maxDeletions);
        for (const { live, allowedBy } of deletions)
          if (allowedBy === "approval") expect(isDeletionApproved(live, OURS)).toBe(true);
      }),
      RUNS,
    );
  });

  it("nothing of another repository is written", () => {
    fc.assert(
      fc.property(requests, (one) => {
        for (const action of planChanges(one).actions)
          if (isWriting(action) && "live" in action) expect(ownerUidOf(action.live)).not.toBe("uid-theirs");
      }),
      RUNS,
    );
  });

  it("every wanted object has at most one action, and every gone one of ours exactly one", () => {
    fc.assert(
      fc.property(requests, (one) => {
        const refs = planChanges(one).actions.map((action) => refText(refOfAction(action)));
        expect(new Set(refs).size).toBe(refs.length);
        for (const object of one.live)
          if (ownerUidOf(object) === OURS && !object.metadata.deletionTimestamp)
            expect(refs).toContain(refText(refOf(object)));
      }),
      RUNS,
    );
  });

  it("the order in which objects are listed changes nothing", () => {
    fc.assert(
      fc.property(requests, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (one, random) => {
        const shuffled = <T>(items: readonly T[]): T[] =>
          items
            .map((item) => ({ item, at: random.next().value }))
            .sort((a, b) => a.at - b.at)
            .map(({ item }) => item);
        const desired = { ...one.desired, objects: shuffled(one.desired.objects) };
        const other = planChanges({ ...one, desired, live: shuffled(one.live) });
        expect(other.actions.map(toLine)).toEqual(planChanges(one).actions.map(toLine));
      }),
      RUNS,
    );
  });

  it("a planner with a memory says the same", () => {
    fc.assert(
      fc.property(requests, (one) => {
        const planner = createPlanner();
        planner(one);
        expect(planner(one)).toEqual(planChanges(one));
      }),
      RUNS,
    );
  });
});
