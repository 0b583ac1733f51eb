import { expect, it } from "vitest";
import { chainOf, syncRunOf } from "../../bench/dev-server.ts";

it.each([
  [
    "hello  fetched 3ms → planned 5ms → stored 2ms → built 1.2s → serving 1m12s  http://127.0.0.1:9090/fn/default/hello",
    { title: "hello", steps: { fetched: 3, planned: 5, stored: 2, built: 1200, serving: 72_000 } },
  ],
  ["\u001b[1mhello\u001b[22m  built \u001b[2m7ms\u001b[22m", { title: "hello", steps: { built: 7 } }],
  [
    "main@sha1:0123456  fetched 0ms → applied 12ms  2 written",
    { title: "main@sha1:0123456", steps: { fetched: 0, applied: 12 } },
  ],
  ["Following functions.git, data in data; Ctrl-C ends it.", undefined],
  ["in-node  function  Ready  http://127.0.0.1:9090/fn/default/in-node", undefined],
])("reads the steps of %j", (line, chain) => {
  expect(chainOf(line)).toEqual(chain);
});

it.each([
  ['{"level":20,"controller":"sync","key":"default/r","durationMs":1.5,"next":"after","msg":"reconciled"}', 1.5],
  [
    '{"level":20,"controller":"function","key":"default/sync","durationMs":3,"next":"done","msg":"reconciled"}',
    undefined,
  ],
  ['{"level":40,"controller":"sync","key":"default/r","err":"gone","msg":"reconcile failed"}', undefined],
  ["no JSON", undefined],
])("takes the duration of a sync alone from %j", (line, duration) => {
  expect(syncRunOf(line)).toBe(duration);
});
