import { expect, it } from "vitest";
import { cronSchedule, type ObjectOf, type TriggerSpec, type TriggerStatus } from "../../src/apis/index.ts";
import { decideTick, type TickDecision } from "../../src/schedule/decide-tick.ts";

const at = (time: string) => `2026-01-01T${time}:00Z`;

function decide(
  now: string,
  status: TriggerStatus | undefined,
  { underWay = false, schedule = "*/10 * * * *", ...spec }: Partial<TriggerSpec> & { underWay?: boolean } = {},
): Record<string, string> {
  const trigger: ObjectOf<"Trigger"> = {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: "Trigger",
    metadata: {
      name: "tick",
      namespace: "default",
      uid: "u-1",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: at("12:05"),
    },
    spec: { type: "cron", functionRef: "hello", schedule, ...spec },
    ...(status && { status }),
  };
  const facts = { now: new Date(at(now)), schedule: cronSchedule(schedule), underWay, startingDeadlineMs: 3_600_000 };
  return clockTimes(decideTick(trigger, facts));
}

function clockTimes(decision: TickDecision): Record<string, string> {
  const told = Object.entries(decision).filter(([, time]) => time !== undefined);
  return Object.fromEntries(told.map(([name, time]) => [name, (time as Date).toISOString().slice(11, 16)]));
}

const seen = (next: string | undefined, last?: string): TriggerStatus => ({
  observedGeneration: 1,
  ...(next && { nextScheduleTime: at(next) }),
  ...(last && { lastScheduleTime: at(last) }),
});

it.each<[string, Record<string, string>, Record<string, string>]>([
  ["before the tick there is nothing to do", decide("12:09", seen("12:10")), { next: "12:10" }],
  ["at the tick it is fired", decide("12:10", seen("12:10")), { fire: "12:10", next: "12:20" }],
  ["a little late too", decide("12:13", seen("12:10")), { fire: "12:10", next: "12:20" }],
  [
    "of several that are due the latest is fired",
    decide("12:35", seen("12:10")),
    { fire: "12:30", missed: "12:10", next: "12:40" },
  ],
  [
    "one that is older than the deadline is left out",
    decide("14:15", seen("12:10"), { schedule: "10 12 * * *" }),
    { missed: "12:10", next: "12:10" },
  ],
  ["what was claimed is not fired again", decide("12:11", seen("12:10", "12:10")), { next: "12:20" }],
  ["nor is anything before it, for a clock that is behind", decide("12:11", seen("12:10", "12:30")), { next: "12:40" }],
  ["after the last claim it goes on", decide("12:25", seen("12:10", "12:10")), { fire: "12:20", next: "12:30" }],
  [
    "a trigger that nobody saw is owed what came since it was made",
    decide("12:12", undefined),
    { fire: "12:10", next: "12:20" },
  ],
  ["and nothing from before", decide("12:07", undefined), { next: "12:10" }],
  ["one that was seen idle begins now", decide("12:12", seen(undefined)), { next: "12:20" }],
  [
    "the due tick of a schedule that was changed meanwhile is none any more",
    decide("12:12", seen("12:10"), { schedule: "15 * * * *" }),
    { next: "12:15" },
  ],
  [
    "with Forbid the tick is left out while a call runs",
    decide("12:10", seen("12:10"), { underWay: true, concurrencyPolicy: "Forbid" }),
    { skipped: "12:10", next: "12:20" },
  ],
  [
    "with Allow it is fired",
    decide("12:10", seen("12:10"), { underWay: true, concurrencyPolicy: "Allow" }),
    { fire: "12:10", next: "12:20" },
  ],
])("%s", (_name, decision, expected) => {
  expect(decision).toEqual(expected);
});
