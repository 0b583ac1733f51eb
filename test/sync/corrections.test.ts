import { expect, it } from "vitest";
import { ANNOTATIONS, type ObjectOf } from "../../src/apis/index.ts";
import { createCorrections } from "../../src/sync/corrections.ts";

let version = 0;

function written(hash: string): ObjectOf<"Function"> {
  version += 1;
  const annotations = { [ANNOTATIONS.appliedHash]: hash };
  const metadata = {
    name: "a",
    namespace: "n",
    uid: "u",
    resourceVersion: String(version),
    generation: 1,
    annotations,
  };
  return { kind: "Function", metadata, spec: {} } as unknown as ObjectOf<"Function">;
}

it("pauses double from the fourth time on that the same is written, up to five minutes", () => {
  const corrections = createCorrections();
  const pauses: number[] = [];
  const begins: boolean[] = [];
  for (let time = 0; time < 14; time += 1) {
    begins.push(corrections.written(written("one"), time));
    pauses.push(corrections.pauseMs(written("one"), time));
  }
  expect(pauses.slice(0, 7)).toEqual([0, 0, 0, 1_000, 2_000, 4_000, 8_000]);
  expect(pauses.at(-1)).toBe(300_000);
  expect(begins.filter(Boolean)).toHaveLength(1);
});

it("commits are no fight, and neither is an object that was left alone for ten minutes", () => {
  const corrections = createCorrections();
  for (let time = 0; time < 10; time += 1) corrections.written(written(`commit ${time}`), time);
  expect(corrections.pauseMs(written("x"), 10)).toBe(0);
  for (let time = 0; time < 10; time += 1) corrections.written(written("same"), time * 600_000);
  expect(corrections.pauseMs(written("same"), 6_000_000)).toBe(0);
});
