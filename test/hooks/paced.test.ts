import { expect, it } from "vitest";
import { paced } from "../../src/hooks/paced.ts";
import { manualClock } from "../support/manual-clock.ts";

function start(faults: Record<string, boolean> = {}) {
  const clock = manualClock();
  const done: string[] = [];
  const failed: string[] = [];
  const work = (value: string) => {
    done.push(value);
    if (faults[value]) throw new Error(`no ${value}`);
  };
  const pace = paced<string>({ clock, pauseMs: 1_000, work, onError: (_error, value) => void failed.push(value) });
  return { clock, done, failed, pace };
}

it("the first is done at once, all of a pause together after it, with the last of them", async () => {
  const { clock, done, pace } = start();
  for (const value of ["a", "b", "c"]) await pace.ask("x", value);
  await pace.ask("y", "other");
  expect(done).toEqual(["a", "other"]);
  clock.advance(999);
  expect(done).toHaveLength(2);
  clock.advance(1);
  expect(done).toEqual(["a", "other", "c"]);
  clock.advance(500);
  await pace.ask("x", "d");
  expect(done).toHaveLength(3);
  clock.advance(500);
  expect(done).toEqual(["a", "other", "c", "d"]);
});

it("a flood is done once in each pause, and leaves nothing behind", async () => {
  const { clock, done, pace } = start();
  for (let step = 0; step < 1_000; step += 1) {
    await pace.ask("x", String(step));
    clock.advance(10);
  }
  expect(done).toHaveLength(11);
  clock.advance(2_000);
  expect(done.at(-1)).toBe("999");
  expect(clock.timers()).toEqual([]);
});

it("what fails at once is told whoever asks, what fails later is not", async () => {
  const { clock, failed, pace } = start({ bad: true, worse: true });
  await expect(pace.ask("x", "bad")).rejects.toThrow("no bad");
  await pace.ask("x", "worse");
  clock.advance(1_000);
  await Promise.resolve();
  expect(failed).toEqual(["worse"]);
});

it("closing does what waits, and nothing after it", async () => {
  const { clock, done, pace } = start();
  await pace.ask("x", "a");
  await pace.ask("x", "b");
  await pace.close();
  expect(done).toEqual(["a", "b"]);
  clock.advance(5_000);
  expect(done).toEqual(["a", "b"]);
});
