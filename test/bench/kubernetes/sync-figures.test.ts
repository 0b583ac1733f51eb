import { expect, it } from "vitest";
import type { Done } from "../../../bench/kubernetes/orders.ts";
import { kindOf, requestLog } from "../../../bench/kubernetes/request-log.ts";
import { syncFigures } from "../../../bench/kubernetes/sync-figures.ts";
import { PATCH_TYPES, type SentRequest } from "../../../src/kubernetes/index.ts";

const FUNCTIONS = "/apis/sless.kube5s.ru/v1alpha1/namespaces/demo/functions";
const sent = (request: Partial<SentRequest>): SentRequest => ({
  method: "GET",
  path: FUNCTIONS,
  contentType: undefined,
  status: 200,
  durationMs: 1,
  ...request,
});

const kinds: Record<string, Partial<SentRequest>> = {
  "GET functions": {},
  "apply functions": { method: "PATCH", path: `${FUNCTIONS}/a`, contentType: PATCH_TYPES.apply },
  "PATCH functions": { method: "PATCH", path: `${FUNCTIONS}/a`, contentType: PATCH_TYPES.merge },
  "PUT functions/status": { method: "PUT", path: `${FUNCTIONS}/a/status` },
  "PUT functions/status (409)": { method: "PUT", path: `${FUNCTIONS}/a/status`, status: 409 },
  "GET repositories": { path: "/apis/sless.kube5s.ru/v1alpha1/repositories" },
};
it.each(Object.entries(kinds))("a request is counted as %s", (name, request) => {
  expect(kindOf(sent(request))).toBe(name);
});

it("a log counts by kind and times the applies from the first to the last", () => {
  const log = requestLog();
  log.note(sent({}));
  log.clear();
  expect(log.since(performance.now())).toEqual({ counts: {}, appliedMs: 0, applyingMs: 0, deployedMs: 0 });
  log.note(sent(kinds["apply functions"]!));
  log.note(sent(kinds["apply functions"]!));
  const { counts, applyingMs } = log.since(performance.now());
  expect(counts).toEqual({ "apply functions": 2 });
  expect(applyingMs).toBeGreaterThanOrEqual(1);
});

const done = (counts: Record<string, number>, applyingMs = 0): Done => ({
  kind: "done",
  counts,
  applyingMs,
  appliedMs: 100,
  deployedMs: 150,
  syncedMs: 200,
});
const round = (applyingMs: number, requests: number) => ({
  bodies: "",
  first: done({ "apply functions": 1_000 }, applyingMs),
  changed: done({ "apply functions": 1, "PUT functions/status": 2 }),
  unchanged: done({ "PUT repositories/status": requests }),
  idle: done({}),
  residentMB: 200,
  loopMs: 1_000,
});

it("targets are met by the median of the ratios and by every count", () => {
  const met = (rounds: ReturnType<typeof round>[]) =>
    syncFigures(rounds, 1_000).flatMap(({ name, target }) => (target?.met === false ? [name] : []));
  expect(met([round(1_200, 1), round(5_000, 1), round(1_100, 1)])).toEqual([]);
  expect(met([round(1_400, 1), round(1_100, 2), round(1_400, 1)])).toEqual([
    "1000 spec applies, statuses and Deployments beside them",
    "requests of a revision that changes nothing",
  ]);
});
