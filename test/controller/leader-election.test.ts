import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCandidacy } from "../../src/controller/lease-candidacy.ts";
import { manualClock } from "../support/manual-clock.ts";
import { type Candidate, candidate, memoryLease, pass, settle } from "./lease-world.ts";

const away = async () => Promise.reject(new Error("the API server is away"));
const silent = () => new Promise<void>(() => {});
const leaders = (...candidates: Candidate[]) => candidates.filter(({ election }) => election.isLeader());

it("the first candidate leads, the second waits", async () => {
  const { store, writes } = memoryLease();
  const a = candidate(store, "a");
  await settle();
  const b = candidate(store, "b");
  await pass(60_000, a, b);
  expect(a.election.isLeader()).toBe(true);
  expect(b.story).toEqual([]);
  expect(b.election.leader()).toBe("a");
  expect(writes[0]).toMatchObject({ holder: "a", durationSec: 15, transitions: 0 });
  // One write at the start and one per retry.
  expect(writes.length).toBeLessThanOrEqual(31);
});

it("of two that start at once one leads", async () => {
  const { store } = memoryLease();
  const both = [candidate(store, "a"), candidate(store, "b")];
  await pass(5_000, ...both);
  expect(leaders(...both)).toHaveLength(1);
});

it("a leader that is killed is followed once its lease was not seen to change for its time", async () => {
  const { store, writes } = memoryLease();
  const a = candidate(store, "a");
  await settle();
  const b = candidate(store, "b");
  await pass(7_000, a, b);
  // It does not even know that it is dead: its clock stands.
  await pass(14_000, b);
  expect(b.election.isLeader()).toBe(false);
  await pass(4_000, b);
  expect(b.election.isLeader()).toBe(true);
  expect(writes.at(-1)).toMatchObject({ holder: "b", transitions: 1 });
});

it("a leader that stops in order lets go, and the next leads within moments", async () => {
  const { store, holder } = memoryLease();
  const a = candidate(store, "a");
  await settle();
  const b = candidate(store, "b");
  await pass(7_000, a, b);
  await a.election.stop();
  expect(a.story).toEqual(["start", "abort", "stopped"]);
  expect(holder()).toBe("");
  await pass(2_100, b);
  expect(b.election.isLeader()).toBe(true);
});

it("a leader that stops keeps the lease until all that it does has ended", async () => {
  const { store, holder } = memoryLease();
  const a = candidate(store, "a", { isSlow: true });
  await settle();
  const stopped = a.election.stop();
  await settle();
  expect([a.election.isLeader(), holder()]).toEqual([false, "a"]);
  a.endWork();
  await stopped;
  expect(holder()).toBe("");
});

describe("a leader that cannot renew", () => {
  it.each([
    ["whose requests fail", away],
    ["whose requests hang", silent],
  ])("%s stops before another can lead", async (_, fault) => {
    const { store } = memoryLease();
    const a = candidate(store, "a");
    await settle();
    const b = candidate(store, "b");
    await pass(6_000, a, b);
    a.fault = fault;
    await pass(9_000, a, b);
    expect([a.election.isLeader(), b.election.isLeader()]).toEqual([true, false]);
    await pass(1_100, a, b);
    expect(a.signal?.aborted).toBe(true);
    expect([a.election.isLeader(), b.election.isLeader()]).toEqual([false, false]);
    await pass(8_000, a, b);
    expect(b.election.isLeader()).toBe(true);
    expect(a.story).toEqual(["start", "abort", "lost"]);
  });

  it("goes on when the server comes back in time", async () => {
    const { store } = memoryLease();
    const a = candidate(store, "a");
    // The last renewal was sent a second ago when it goes away.
    await pass(3_000, a);
    a.fault = away;
    await pass(6_500, a);
    a.fault = undefined;
    await pass(30_000, a);
    expect(a.story).toEqual(["start"]);
  });

  it("leads again when the server was away for 20 s and nobody else came", async () => {
    const { store } = memoryLease();
    const both = [candidate(store, "a"), candidate(store, "b")];
    await pass(5_000, ...both);
    for (const each of both) each.fault = away;
    await pass(20_000, ...both);
    expect(leaders(...both)).toEqual([]);
    for (const each of both) each.fault = undefined;
    await pass(20_000, ...both);
    expect(leaders(...both)).toHaveLength(1);
  });

  it("and whose write was done all the same, unheard, is still the leader", async () => {
    const { store } = memoryLease();
    const a = candidate(store, "a");
    await settle();
    let lost = 0;
    a.fault = async (call) => {
      if (call === "read" || lost > 0) return;
      lost += 1;
      const { record, version } = (await store.read(new AbortController().signal))!;
      await store.write({ ...record, renewTime: "2026-01-01T00:00:01Z" }, version, new AbortController().signal);
      throw new Error("the connection broke");
    };
    await pass(10_000, a);
    expect(lost).toBe(1);
    expect(a.story).toEqual(["start"]);
  });
});

it("a leader whose lease somebody else holds stops at its next look", async () => {
  const { store } = memoryLease();
  const a = candidate(store, "a");
  await settle();
  const { record, version } = (await store.read(new AbortController().signal))!;
  await store.write({ ...record, holder: "thief" }, version, new AbortController().signal);
  await pass(2_100, a);
  expect(a.story).toEqual(["start", "abort", "lost"]);
  expect(a.election.leader()).toBe("thief");
});

it("a leader whose lease is deleted stops, and somebody leads again", async () => {
  const lease = memoryLease();
  const both = [candidate(lease.store, "a"), candidate(lease.store, "b")];
  await pass(5_000, ...both);
  lease.drop();
  await pass(10_000, ...both);
  expect(leaders(...both)).toHaveLength(1);
});

it("clocks that differ by five minutes do no harm", async () => {
  const { store } = memoryLease();
  const a = candidate(store, "a", { now: "2026-01-01T00:00:00.000Z" });
  await settle();
  const ahead = candidate(store, "b", { now: "2026-01-01T00:05:00.000Z" });
  const behind = candidate(store, "c", { now: "2025-12-31T23:55:00.000Z" });
  await pass(60_000, a, ahead, behind);
  expect(leaders(a, ahead, behind)).toEqual([a]);
  await pass(20_000, ahead, behind);
  expect(leaders(ahead, behind)).toHaveLength(1);
});

it("work that ends or fails by itself gives the lead to another", async () => {
  const { store } = memoryLease();
  const a = candidate(store, "a", { onStartedLeading: () => Promise.reject(new Error("broken")) });
  const b = candidate(store, "b");
  await pass(6_000, a, b);
  expect(a.election.isLeader()).toBe(false);
  expect(b.election.isLeader()).toBe(true);
});

it("each leader is told once", async () => {
  const { store } = memoryLease();
  const told: string[] = [];
  const a = candidate(store, "a");
  await settle();
  const b = candidate(store, "b", { onNewLeader: (identity) => void told.push(identity) });
  await pass(10_000, a, b);
  await a.election.stop();
  await pass(10_000, b);
  expect(told).toEqual(["a", "b"]);
});

it("times with which two could lead at once are refused", () => {
  const make = (times: object) => () =>
    createCandidacy({ store: memoryLease().store, identity: "a", clock: manualClock(), times });
  expect(make({ leaseMs: 10_000 })).toThrow(RangeError);
  expect(make({ renewDeadlineMs: 1_000 })).toThrow(RangeError);
  expect(make({ retryMs: 0 })).toThrow(RangeError);
});

it("never do two lead at once, whatever fails and however long what stops takes to be seen", async () => {
  const step = fc.record({
    ms: fc.integer({ min: 100, max: 12_000 }),
    who: fc.integer({ min: 0, max: 2 }),
    fault: fc.constantFrom(undefined, away, silent),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const { store } = memoryLease();
      const all = ["a", "b", "c"].map((name) => candidate(store, name));
      for (const { ms, who, fault } of steps) {
        all[who]!.fault = fault;
        for (let left = ms; left > 0; left -= 500) {
          await pass(Math.min(500, left), ...all);
          expect(leaders(...all).length).toBeLessThanOrEqual(1);
        }
      }
      for (const each of all) each.fault = undefined;
      await pass(25_000, ...all);
      expect(leaders(...all)).toHaveLength(1);
      await Promise.all(all.map(({ election }) => election.stop()));
    }),
    { numRuns: 15 },
  );
});
