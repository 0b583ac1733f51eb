import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ObjectOf } from "../../src/apis/index.ts";
import type { Informer } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { startScheduler } from "../../src/schedule/index.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { answer, MINUTE_MS, skewed } from "./cron-fixture.ts";

type Trigger = ObjectOf<"Trigger">;
type Crash = "beforeClaim" | "afterClaim";

const START = "2026-01-01T12:00:30Z";
const WATCH_MS = 5_000;
const quiet = { debug: () => {}, warn: () => {}, error: () => {} };
const metadata = { namespace: "default", uid: "u-1", resourceVersion: "1", generation: 1, creationTimestamp: START };
const apiVersion = "sless.kube5s.ru/v1alpha1";
const hello: ObjectOf<"Function"> = {
  apiVersion,
  kind: "Function",
  metadata: { ...metadata, name: "hello" },
  spec: { runtime: "python3.11" },
};

/** One trigger with the status of a store: whoever writes an older version than the present one is refused. */
interface World {
  readonly clock: ManualClock;
  readonly calls: string[];
  /** Ticks whose process died between the claim and the call: lost, whoever leads. */
  readonly lost: string[];
  trigger: Trigger;
}

/** A process that may lead: its clock is off, its cache may be behind, and it may die at its next claim. */
interface Replica {
  dead: boolean;
  leads: boolean;
  crash: Crash | undefined;
  cached: Trigger;
  scheduler: ReturnType<typeof startScheduler>;
}

function startReplica(world: World, skewMs: number): Replica {
  const clock = skewed(world.clock, skewMs, () => replica.dead);
  const replica = { dead: false, leads: true, crash: undefined, cached: world.trigger } as Replica;
  const write = (object: Pick<Trigger, "metadata">, status: NonNullable<Trigger["status"]>) => {
    if (object.metadata.resourceVersion !== world.trigger.metadata.resourceVersion)
      throw new SlessError("conflict", { what: "Trigger tick" });
    if (JSON.stringify(status) === JSON.stringify(world.trigger.status)) return world.trigger;
    const resourceVersion = String(Number(world.trigger.metadata.resourceVersion) + 1);
    world.trigger = { ...world.trigger, metadata: { ...world.trigger.metadata, resourceVersion }, status };
    return world.trigger;
  };
  replica.scheduler = startScheduler({
    store: {
      updateStatus: (async (object: Trigger, status: NonNullable<Trigger["status"]>) => {
        await setImmediate();
        const isClaim = status.lastScheduleTime !== object.status?.lastScheduleTime;
        if (replica.dead || (isClaim && replica.crash)) {
          if (!replica.dead && replica.crash === "afterClaim") {
            write(object, status);
            world.lost.push(`u-1/${status.lastScheduleTime}`);
          }
          replica.dead = true;
          return new Promise<never>(() => {});
        }
        return write(object, status);
      }) as never,
    },
    triggers: cacheOf(replica),
    functions: { get: () => hello, onEvent: () => () => {} },
    services: { get: () => undefined, onEvent: () => () => {} },
    invoke: async (_workload, { requestId = "" }) => {
      world.calls.push(requestId);
      return answer();
    },
    clock,
    report: () => {},
    log: quiet,
  });
  return replica;
}

function cacheOf(replica: Replica): Informer<"Trigger", "functionRef"> {
  return {
    start: async () => {},
    synced: async () => {},
    get: () => replica.cached,
    list: () => [replica.cached],
    byIndex: () => [replica.cached],
    onEvent(listener) {
      listener("ADDED", replica.cached);
      return () => {};
    },
    observe(object) {
      replica.cached = object;
    },
  };
}

async function settle(replicas: readonly Replica[]): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) {
    await setImmediate();
    await Promise.all(replicas.filter(({ dead }) => !dead).map(idleOrDead));
  }
}

/** One that dies meanwhile is never idle. */
async function idleOrDead(replica: Replica): Promise<void> {
  const idle = replica.scheduler.controller.idle().then(() => true);
  while (!replica.dead && !(await Promise.race([idle, setImmediate(false)])));
}

const skew = fc.constantFrom(-5, -2, 0, 3, 5).map((minutes) => minutes * MINUTE_MS);
const command = fc.oneof(
  { weight: 5, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 2, arbitrary: fc.record({ lead: skew, keepsOld: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ crash: fc.constantFrom<Crash>("beforeClaim", "afterClaim") }) },
  { weight: 1, arbitrary: fc.record({ behind: fc.constant(true) }) },
);

/** Ticks of every minute of a leader's last minute, as the ids that the function gets. */
function tickOf(time: Date): string {
  const tick = new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS);
  return tick.toISOString().replace(".000Z", "Z");
}

it("each tick is called at most once, and every one while somebody healthy leads, whoever leads, crashes or is off", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 3, maxLength: 15 }), async (commands) => {
      const spec = { type: "cron", functionRef: "hello", schedule: "* * * * *" } as const;
      const trigger: Trigger = { apiVersion, kind: "Trigger", metadata: { ...metadata, name: "tick" }, spec };
      const world: World = { clock: manualClock(START), calls: [], lost: [], trigger };
      const replicas: Replica[] = [];
      let leader: { replica: Replica; skewMs: number } | undefined;

      const lead = async (skewMs: number, keepsOld: boolean) => {
        if (leader && !keepsOld) leader.replica.dead = true;
        leader = { replica: startReplica(world, skewMs), skewMs };
        replicas.push(leader.replica);
        await settle(replicas);
      };
      const passMinute = async () => {
        const lastBefore = world.trigger.status?.lastScheduleTime ?? "";
        world.clock.advance(MINUTE_MS - WATCH_MS);
        await settle(replicas);
        // The watch brings what a cache does not know yet; whoever was refused tries again.
        for (const replica of replicas) replica.cached = world.trigger;
        world.clock.advance(WATCH_MS);
        await settle(replicas);
        if (!leader || leader.replica.dead || leader.replica.crash) return;
        const tick = tickOf(new Date(world.clock.now().getTime() + leader.skewMs));
        // One whose clock is ahead may have fired it before, or left it out for a later one.
        if (tick > lastBefore) expect([...world.calls, ...world.lost]).toContain(`u-1/${tick}`);
      };
      for (const one of commands) {
        if ("lead" in one) await lead(one.lead, one.keepsOld);
        else if ("crash" in one && leader) leader.replica.crash = one.crash;
        else if ("pass" in one) for (let n = 0; n < one.pass; n += 1) await passMinute();
        else if ("behind" in one && leader) leader.replica.cached = trigger;
      }
      expect(new Set(world.calls).size).toBe(world.calls.length);
      expect(world.calls.filter((id) => world.lost.includes(id))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});
