import fc from "fast-check";
import { expect, it } from "vitest";
import { createDueAlarm } from "../../src/schedule/due-alarm.ts";
import { manualClock } from "../support/manual-clock.ts";
import { skewed } from "./cron-fixture.ts";

const SECOND_MS = 1_000;

function alarmed() {
  const clock = manualClock();
  const woken: string[] = [];
  const alarm = createDueAlarm(clock, (key) => void woken.push(key));
  const at = (ms: number) => new Date(clock.now().getTime() + ms);
  return { clock, woken, alarm, at };
}

it("keys wake in the order of their times, each once, and what is over at once", () => {
  const { clock, woken, alarm, at } = alarmed();
  alarm.set("late", at(90 * SECOND_MS));
  alarm.set("soon", at(SECOND_MS));
  alarm.set("over", at(-SECOND_MS));
  clock.advance(0);
  expect(woken).toEqual(["over"]);
  clock.advance(600 * SECOND_MS);
  expect(woken).toEqual(["over", "soon", "late"]);
});

it("a key that is set anew wakes at its new time alone, one that is cancelled never", () => {
  const { clock, woken, alarm, at } = alarmed();
  alarm.set("earlier", at(60 * SECOND_MS));
  alarm.set("earlier", at(10 * SECOND_MS));
  alarm.set("later", at(10 * SECOND_MS));
  alarm.set("later", at(60 * SECOND_MS));
  alarm.set("gone", at(10 * SECOND_MS));
  alarm.cancel("gone");
  clock.advance(10 * SECOND_MS);
  expect(woken).toEqual(["earlier"]);
  clock.advance(600 * SECOND_MS);
  expect(woken).toEqual(["earlier", "later"]);
});

it("a clock that jumps, as after a machine's sleep, is noticed within half a minute", () => {
  const real = manualClock();
  let jumpMs = 0;
  const clock = { ...real, now: () => skewed(real, jumpMs).now() };
  const woken: string[] = [];
  const alarm = createDueAlarm(clock, (key) => void woken.push(key));
  alarm.set("tomorrow", new Date(real.now().getTime() + 86_400 * SECOND_MS));
  jumpMs = 86_400 * SECOND_MS;
  real.advance(30 * SECOND_MS);
  expect(woken).toEqual(["tomorrow"]);
});

it("ten thousand keys wait on one timer", () => {
  const { clock, woken, alarm, at } = alarmed();
  for (let n = 0; n < 10_000; n += 1) alarm.set(`key-${n}`, at((10_000 - n) * SECOND_MS));
  expect(clock.timers()).toHaveLength(1);
  clock.advance(10_000 * SECOND_MS);
  expect(woken).toHaveLength(10_000);
  expect(clock.timers()).toEqual([]);
});

it("after a close nothing wakes", () => {
  const { clock, woken, alarm, at } = alarmed();
  alarm.set("key", at(SECOND_MS));
  alarm.close();
  clock.advance(60 * SECOND_MS);
  expect(woken).toEqual([]);
  expect(clock.timers()).toEqual([]);
});

it("whatever is set, set anew and cancelled, keys wake as a list that is searched each time would tell", () => {
  const key = fc.integer({ min: 0, max: 5 }).map(String);
  const step = fc.oneof(
    fc.record({ set: key, inMs: fc.integer({ min: -5, max: 100_000 }) }),
    fc.record({ cancel: key }),
    fc.record({ advance: fc.integer({ min: 0, max: 50_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clock, woken, alarm, at } = alarmed();
      const model = new Map<string, number>();
      const expected: string[] = [];
      for (const one of steps) {
        if ("set" in one) {
          alarm.set(one.set, at(one.inMs));
          model.set(one.set, at(one.inMs).getTime());
        } else if ("cancel" in one) {
          alarm.cancel(one.cancel);
          model.delete(one.cancel);
        } else {
          woken.length = 0;
          clock.advance(one.advance);
          const due = [...model].filter(([, time]) => time <= clock.now().getTime());
          for (const [name] of due) model.delete(name);
          expected.splice(0, expected.length, ...due.map(([name]) => name));
          expect([...woken].sort()).toEqual([...expected].sort());
        }
      }
    }),
  );
});
