import { expect, it } from "vitest";
import { systemClock } from "../../../src/controller/clock.ts";
import type { ApiRequest, KubernetesClient } from "../../../src/kubernetes/index.ts";
import { kubernetesLogs } from "../../../src/platform/kubernetes/index.ts";
import { eventually } from "../../support/eventually.ts";

const MIB = 1024 * 1024;
const HELLO = { kind: "Function", namespace: "team", name: "hello" } as const;
const LINE = `2026-01-01T00:00:00.123456789Z ${"x".repeat(1_000)}\n`;

/** An API server with so many pods that print as much and as fast as they are read. */
function chattyServer(pods: number, chunk: string = LINE.repeat(60)) {
  const seen = { bytes: 0, limits: [] as number[], atOnce: 0, atOnceMax: 0 };
  const items = Array.from({ length: pods }, (_, index) => ({
    metadata: { name: `hello-${index}`, namespace: "sless-fn-team", uid: `${index}`, resourceVersion: "1" },
  }));
  async function* stream({ query = {}, signal }: ApiRequest): AsyncGenerator<Uint8Array> {
    if (query.watch) return void (await new Promise((resolve) => signal?.addEventListener("abort", resolve)));
    const limit = query.follow ? Number.POSITIVE_INFINITY : Number(query.limitBytes);
    if (!query.follow) seen.limits.push(limit);
    for (let bytes = 0; bytes < limit && !signal?.aborted; bytes += chunk.length) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.bytes += chunk.length;
      yield Buffer.from(chunk).subarray(0, Math.min(chunk.length, limit - bytes));
    }
  }
  const client = {
    async request() {
      seen.atOnce += 1;
      seen.atOnceMax = Math.max(seen.atOnceMax, seen.atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      seen.atOnce -= 1;
      return { metadata: { resourceVersion: "1" }, items };
    },
    stream,
  } as unknown as KubernetesClient;
  const logs = kubernetesLogs({ client, clock: systemClock, log: { warn: () => undefined } });
  return { logs, seen };
}

const read = async (chunks: AsyncIterable<Uint8Array>) => {
  let bytes = 0;
  for await (const chunk of chunks) bytes += chunk.length;
  return bytes;
};

it.each([1, 20, 100])("what %i replicas have printed is read up to a limit for all of them", async (pods) => {
  const { logs, seen } = chattyServer(pods);
  expect(await read(logs.logs(HELLO, { follow: false, signal: new AbortController().signal }))).toBeGreaterThan(0);
  expect(seen.limits).toHaveLength(pods);
  expect(seen.limits.reduce((sum, limit) => sum + limit, 0)).toBeLessThanOrEqual(16 * MIB);
});

it("the logs of two workloads are in memory at a time, and others wait", async () => {
  const { logs, seen } = chattyServer(1, LINE);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 6 }, () => read(logs.logs(HELLO, { follow: false, signal }))));
  expect(seen.atOnceMax).toBe(2);
});

it("pods that print faster than somebody reads wait for him", async () => {
  const { logs, seen } = chattyServer(3, `${"x".repeat(1_000)}\n`.repeat(60));
  const stop = new AbortController();
  const chunks = logs.logs(HELLO, { follow: true, signal: stop.signal })[Symbol.asyncIterator]();
  await chunks.next();
  const before = seen.bytes;
  void chunks.next();
  await eventually(
    "the pods wait",
    async () => {
      const bytes = seen.bytes;
      for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return seen.bytes === bytes;
    },
    (isQuiet) => isQuiet,
  );
  expect(seen.bytes - before).toBeLessThan(4 * MIB);
  stop.abort();
});

it("output without line breaks is told in parts", async () => {
  const { logs, seen } = chattyServer(1, "y".repeat(100_000));
  const stop = new AbortController();
  let bytes = 0;
  for await (const chunk of logs.logs(HELLO, { follow: true, signal: stop.signal })) {
    bytes += chunk.length;
    if (bytes > 8 * MIB) break;
  }
  stop.abort();
  expect(seen.bytes).toBeLessThan(16 * MIB);
});
