import { expect, it } from "vitest";
import { afterQuiet } from "../../src/controller/index.ts";
import { manualClock } from "../support/manual-clock.ts";

function quiet() {
  const clock = manualClock();
  const runs: string[] = [];
  return { clock, runs, waiting: afterQuiet(clock, 200, (key) => runs.push(key)) };
}

it("many touches in a row are one run, after the last", () => {
  const { clock, runs, waiting } = quiet();
  for (let touch = 0; touch < 30; touch++) {
    waiting.touch("a");
    clock.advance(100);
  }
  expect(runs).toEqual([]);
  clock.advance(100);
  expect(runs).toEqual(["a"]);
  waiting.touch("a");
  clock.advance(200);
  expect(runs).toEqual(["a", "a"]);
});

it("one key does not wait for another, and nobody is called back after the close", () => {
  const { clock, runs, waiting } = quiet();
  waiting.touch("a");
  clock.advance(150);
  waiting.touch("b");
  clock.advance(50);
  expect(runs).toEqual(["a"]);
  waiting.close();
  clock.advance(1_000);
  expect(runs).toEqual(["a"]);
  expect(clock.timers()).toEqual([]);
});
