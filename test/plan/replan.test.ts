import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyObject } from "../../src/apis/index.ts";
import { createPlanner, type DesiredObject, type PlanRequest, planChanges, toLine } from "../../src/plan/index.ts";
import {
  applyActions,
  approved,
  fn,
  job,
  markHeld,
  nobodys,
  ours,
  request,
  service,
  theirs,
  trigger,
} from "./objects.ts";

/** What may happen between two plans of one repository. */
type Step = (world: World) => World;

interface World {
  readonly desired: readonly DesiredObject[];
  readonly live: readonly AnyObject[];
  readonly more: Parameters<typeof request>[2];
  readonly areOthersAlive: boolean;
}

const names = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const MAKERS = { fn, service, job, trigger };
const made = fc
  .record({
    maker: fc.constantFrom(...(Object.keys(MAKERS) as (keyof typeof MAKERS)[])),
    name: names,
    memoryMB: fc.constantFrom(128, 256),
    reconcile: fc.option(fc.constant("disabled"), { nil: undefined, freq: 9 }),
  })
  .map(({ maker, name, memoryMB, reconcile }): DesiredObject => {
    const options = reconcile === undefined ? {} : { annotations: { "sless.kube5s.ru/reconcile": reconcile } };
    if (maker === "trigger") return trigger(name, { functionRef: memoryMB === 128 ? "hello" : "other" }, options);
    if (maker === "job") return job(name, { memoryMB }, options);
    return MAKERS[maker](name, { memoryMB }, options);
  });

const sharedName = ({ intent }: DesiredObject) =>
  `${intent.kind.replace("Service", "Function")}/${intent.metadata.name}`;
const refOf = ({ kind, metadata }: AnyObject) => `${kind}/${metadata.name}`;
const placed = <T>(items: readonly T[], item: T, keyOf: (item: T) => string): T[] => {
  const at = items.findIndex((one) => keyOf(one) === keyOf(item));
  return at < 0 ? [...items, item] : items.with(at, item);
};
const changedAt = <T>(items: readonly T[], at: number, change: (item: T) => T | undefined): T[] => {
  const changed = items.length === 0 ? undefined : change(items[at % items.length]!);
  return items.flatMap((item, index) => (index === at % items.length ? (changed ?? []) : [item]));
};
const at = fc.nat(30);

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: made.map((object) => (world: World) => ({
      ...world,
      desired: placed(world.desired, object, sharedName),
    })),
  },
  {
    weight: 2,
    arbitrary: at.map((n) => (world: World) => ({ ...world, desired: changedAt(world.desired, n, () => undefined) })),
  },
  {
    weight: 6,
    arbitrary: fc.constant<Step>((world) => ({
      ...world,
      live: applyActions(world.live, planChanges(asked(world)).actions),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(made, fc.constantFrom(ours, theirs, nobodys)).map(([object, owned]) => (world: World) => ({
      ...world,
      live: placed(world.live, owned(object), refOf),
    })),
  },
  {
    weight: 2,
    arbitrary: at.map((n) => (world: World) => ({ ...world, live: changedAt(world.live, n, () => undefined) })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(at, fc.constantFrom(newStatus, edited, ending, markHeld, approved))
      .map(([n, change]) => (world: World) => ({
        ...world,
        live: changedAt(world.live, n, (object) => anew(change(object))),
      })),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step>(
      (world) => ({ ...world, live: world.live.toReversed() }),
      (world) => ({ ...world, desired: world.desired.toReversed() }),
      (world) => ({ ...world, areOthersAlive: !world.areOthersAlive }),
      (world) => ({ ...world, more: { ...world.more, prune: world.more?.prune === false } }),
      (world) => ({ ...world, more: { ...world.more, blocksPruning: !world.more?.blocksPruning } }),
      (world) => ({
        ...world,
        more: { ...world.more, guard: { maxDeletions: world.more?.guard ? 0 : 3, maxPercent: 50 } },
      }),
      (world) => ({ ...world, more: { ...world.more, blocked: someBlocked(world) } }),
    ),
  },
);

let versions = 0;
/** As a store gives it back after a write. */
function anew(object: AnyObject): AnyObject {
  versions += 1;
  return { ...object, metadata: { ...object.metadata, resourceVersion: `changed-${versions}` } };
}
function newStatus(object: AnyObject): AnyObject {
  return { ...object, status: { message: "new" } } as AnyObject;
}
function edited(object: AnyObject): AnyObject {
  return { ...object, spec: { ...object.spec, memoryMB: 512 } } as AnyObject;
}
function ending(object: AnyObject): AnyObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: "2024-01-02T00:00:00Z" } };
}

/** None where some are; else every third object that is wanted. */
function someBlocked({ desired, more }: World): ReadonlySet<string> {
  const refs = desired.map(({ intent }) => `${intent.kind}/default/${intent.metadata.name}`);
  return new Set(more?.blocked?.size ? [] : refs.filter((_, index) => index % 3 === 0));
}

function asked({ desired, live, more, areOthersAlive }: World): PlanRequest {
  return { ...request(desired, live, more), isRepositoryAlive: () => areOthersAlive };
}

describe("for any course of a repository", () => {
  it("each plan that begins with the last one equals one that is made anew", () => {
    fc.assert(
      fc.property(
        fc.array(made, { maxLength: 12 }),
        fc.array(steps, { minLength: 1, maxLength: 25 }),
        (first, later) => {
          const planner = createPlanner();
          let world: World = {
            desired: first.reduce<DesiredObject[]>((all, one) => placed(all, one, sharedName), []),
            live: [],
            more: {},
            areOthersAlive: true,
          };
          for (const step of [(same: World) => same, ...later]) {
            world = step(world);
            expect(planner(asked(world))).toEqual(planChanges(asked(world)));
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("of a repository with many objects", () => {
  const MANY = Array.from({ length: 3_000 }, (_, n) => fn(`f${String(n).padStart(4, "0")}`));
  const LIVE = MANY.map((object) => ours(object));

  it("a plan after one change looks at nothing else, and says where it stands among the others", () => {
    let looks = 0;
    const live = LIVE.map((object) => ({
      ...object,
      metadata: new Proxy(object.metadata, {
        get(target, key) {
          if (key === "annotations" || key === "labels") looks += 1;
          return Reflect.get(target, key);
        },
      }),
    })) as AnyObject[];
    const planner = createPlanner();
    planner(request(MANY, live));
    expect(looks).toBeGreaterThan(MANY.length);
    looks = 0;
    const desired = MANY.with(1_500, fn("f1500", { memoryMB: 512 }));
    const { actions } = planner(request(desired, live));
    expect(looks).toBeLessThan(100);
    const changes = actions.flatMap((action, at) => (action.kind === "unchanged" ? [] : [`${at} ${toLine(action)}`]));
    expect(changes).toEqual(["1500 update Function/default/f1500 (memoryMB 128 → 512)"]);
  });

  it("more changes than are sorted out make a whole plan, which is the same", () => {
    const planner = createPlanner();
    planner(request(MANY, LIVE));
    const desired = MANY.map((object, n) =>
      n % 2 === 0 ? fn(object.intent.metadata.name, { memoryMB: 512 }) : object,
    );
    expect(planner(request(desired, LIVE))).toEqual(planChanges(request(desired, LIVE)));
    expect(planner(request(MANY, LIVE))).toEqual(planChanges(request(MANY, LIVE)));
  });
});
