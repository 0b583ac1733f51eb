import { expect, it } from "vitest";
import { systemClock, type TimerClock } from "../../../src/controller/clock.ts";
import { ApiError, type ApiRequest, type KubernetesClient } from "../../../src/kubernetes/index.ts";
import { jobResults } from "../../../src/platform/kubernetes/job-results.ts";
import type { LivePod } from "../../../src/platform/kubernetes/live-objects.ts";
import { readResult } from "../../../src/platform/kubernetes/read-result.ts";
import { eventually } from "../../support/eventually.ts";
import { resultCopy } from "../../support/result-copy.ts";

const MIB = 1024 * 1024;
const WHOLE = "0123456789".repeat(1_000);
const cutOf = (result: string) => {
  const mark = `… (truncated, ${Buffer.byteLength(result)} bytes in all; see the log)`;
  return result.slice(0, 4_096 - Buffer.byteLength(mark)) + mark;
};
const CUT = cutOf(WHOLE);
const POD = { metadata: { name: "report-1-x", namespace: "sless-fn-team", uid: "u1" } } as LivePod;
/** Pauses are over at once; what is to be late by then never is. */
const clock: TimerClock = {
  ...systemClock,
  setTimer: (ms, callback) => (ms < 10_000 ? systemClock.setTimer(0, callback) : () => undefined),
};
/** What is to be late by then is, at once. */
const hurried: TimerClock = { ...systemClock, setTimer: (_, callback) => systemClock.setTimer(0, callback) };

type Log = (request: ApiRequest, asked: number) => AsyncIterable<Uint8Array>;

/** The API server in front of a node that answers so. */
function server(log: Log) {
  const asked: ApiRequest[] = [];
  const stream = (request: ApiRequest) => log(request, asked.push(request));
  return { asked, client: { stream } as unknown as KubernetesClient };
}
async function* text(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
async function* failing(error: Error): AsyncGenerator<Uint8Array> {
  yield await Promise.reject(error);
}
/** @returns what a client returns whose request hangs until its signal aborts */
async function* silent({ signal }: ApiRequest): AsyncGenerator<Uint8Array> {
  await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  yield* [];
}
async function read(log: Log, from: Partial<{ cut: string; clock: TimerClock; signal: AbortSignal }> = {}) {
  const { asked, client } = server(log);
  const { signal = new AbortController().signal } = from;
  const message = await readResult(POD, from.cut ?? CUT, { client, clock: from.clock ?? clock, signal });
  return { message, asked: asked.length, queries: asked.map(({ query }) => query) };
}
const notRead = (reason: string) => `${CUT}\n(The rest could not be read from the log: ${reason}.)`;

it("a result is read from the last lines of its pod's log, at once", async () => {
  const found = await read(() => text("loading\n", `${WHOLE}\n`, resultCopy(WHOLE)));
  expect(found).toMatchObject({ message: WHOLE, asked: 1, queries: [{ container: "function", tailLines: 80 }] });
});

it.each<[string, string[]]>([
  ["arrives in pieces of a few bytes", `${WHOLE}\n${resultCopy(WHOLE)}`.match(/[\s\S]{1,7}/g) ?? []],
  ["stands among what others print", [resultCopy(WHOLE).replaceAll("\n", "\nprogress: 7 %\n")]],
  ["is followed by what others print", [resultCopy(WHOLE), "bye\n", "x".repeat(50_000), "\n"]],
  ["has no line end", [resultCopy(WHOLE).trimEnd()]],
  ["was printed twice", [resultCopy(WHOLE), resultCopy(WHOLE)]],
  [
    "is followed by a part of one that was never ended",
    [resultCopy(WHOLE), resultCopy("z".repeat(9_000)).slice(0, 5_000)],
  ],
  ["is followed by another one", [resultCopy(WHOLE), resultCopy("z".repeat(10_000))]],
  [
    "stands among one that was forged",
    resultCopy(WHOLE)
      .split(/(?<=\n)/)
      .flatMap((line, index) => [resultCopy("z".repeat(10_000)).split(/(?<=\n)/)[index] ?? "", line]),
  ],
])("a copy that %s is found", async (_, chunks) => {
  expect((await read(() => text(...chunks))).message).toBe(WHOLE);
});

it.each<[string, string]>([
  ["nothing", ""],
  ["the whole result alone", `${WHOLE}\n`],
  ["the node's word that it is gone", "unable to retrieve container logs for containerd://1\n"],
  ["a copy whose beginning was rotated away", resultCopy(WHOLE).split("\n").slice(1).join("\n")],
  ["a copy of another beginning", resultCopy("z".repeat(10_000))],
  ["a copy of too little", resultCopy(WHOLE.slice(0, 9_999))],
  ["a copy of too much", resultCopy(`${WHOLE}0`)],
  ["a copy that somebody wrote into", resultCopy(WHOLE).replace(/ 2\/(\d) ..../, " 2/$1 AAAA")],
  ["a count of lines beyond all bounds", `sless-result ${"a".repeat(16)} 1/999 AAAA\n`],
])("where the log holds %s, the cut result stays, and says why", async (_, log) => {
  expect(await read(() => text(log))).toMatchObject({ message: notRead("it does not hold the result"), asked: 3 });
});

it("far more lines are asked for where the last few hold no result, and no more than is asked for is read", async () => {
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      sent += MIB;
      yield Buffer.alloc(MIB, "x");
    }
  }
  const found = await read((_, asked) => (asked === 3 ? text(resultCopy(WHOLE)) : endless()));
  expect(found.message).toBe(WHOLE);
  expect(found.queries.map((query) => query?.tailLines)).toEqual([80, 5_000, 5_000]);
  expect(sent).toBeLessThan(16 * MIB);
});

it.each<[string, Error, string, number]>([
  ["a pod that is gone", new ApiError(404, { message: 'pods "report-1-x" not found' }), "its pod is gone", 1],
  ["no right", new ApiError(403, { message: "pods is forbidden" }), "pods is forbidden", 1],
  ["a node that does not answer", new ApiError(500, { message: "dial tcp: i/o timeout" }), "dial tcp: i/o timeout", 3],
])("%s ends the run with the cut result and the reason", async (_, error, reason, asked) => {
  expect(await read(() => failing(error))).toMatchObject({ message: notRead(reason), asked });
});

it("a node that answers again is asked again", async () => {
  const found = await read((_, asked) => (asked < 3 ? failing(new ApiError(502, {})) : text(resultCopy(WHOLE))));
  expect(found).toMatchObject({ message: WHOLE, asked: 3 });
});

it("a node that sends nothing is waited for only so long", async () => {
  expect(await read(silent, { clock: hurried })).toMatchObject({ message: notRead("it took too long"), asked: 3 });
});

it("at the end of sless nothing is waited for", async () => {
  expect(await read(silent, { signal: AbortSignal.abort() })).toMatchObject({ asked: 0 });
});

it("a result beyond 64 KiB is its first 64 KiB, and says how much there is", async () => {
  const result = "0123456789".repeat(10_000);
  const found = await read(() => text(resultCopy(result.slice(0, 65_536))), { cut: cutOf(result) });
  expect(found.message).toMatch(/^[0-9]+… \(truncated, 100000 bytes in all; see the log\)$/);
  expect(Buffer.byteLength(found.message)).toBe(65_536);
});

it("results are read once, four at a time, and told when they are there", async () => {
  const gate = Promise.withResolvers<void>();
  const { asked, client } = server(async function* () {
    await gate.promise;
    yield* text(resultCopy(WHOLE));
  });
  const told: string[] = [];
  const results = jobResults({
    client,
    clock,
    signal: new AbortController().signal,
    tell: ({ name }) => void told.push(name),
  });
  const names = ["a", "b", "c", "d", "e", "f"];
  const ask = () =>
    names.map((name) =>
      results.of(
        { kind: "FunctionJob", namespace: "team", name },
        { ...POD, metadata: { ...POD.metadata, uid: name } },
        CUT,
      ),
    );
  expect(ask()).toEqual(names.map(() => undefined));
  const count = () => asked.length;
  await eventually("four are asked for", count, (seen) => seen === 4);
  expect(ask()).toEqual(names.map(() => undefined));
  gate.resolve();
  await eventually(
    "all are told",
    () => told.length,
    (count) => count === names.length,
  );
  expect(ask()).toEqual(names.map(() => WHOLE));
  expect(asked).toHaveLength(names.length);
});

it("a result that the status of its pod holds is not looked for", async () => {
  const { asked, client } = server(() => text());
  const results = jobResults({ client, clock, signal: new AbortController().signal, tell: () => undefined });
  const ref = { kind: "FunctionJob", namespace: "team", name: "report" } as const;
  for (const message of ["", "done", "… (truncated, 9000 bytes in all; see the log)", "e".repeat(4_096)])
    expect(results.of(ref, POD, message)).toBe(message);
  expect(asked).toEqual([]);
});

it("results that are nowhere, however many jobs say that they have some, keep nobody from reading his", async () => {
  const told: string[] = [];
  const { client } = server(({ path }) => text(path.includes("honest") ? resultCopy(WHOLE) : "nothing"));
  // Who waits for another try waits for ever.
  const standing: TimerClock = {
    ...systemClock,
    setTimer: (ms, callback) => (ms > 0 ? () => undefined : systemClock.setTimer(0, callback)),
  };
  const stop = new AbortController();
  const tell = ({ name }: { name: string }) => void told.push(name);
  const results = jobResults({ client, clock: standing, signal: stop.signal, tell });
  const ask = (name: string) => {
    const pod = { metadata: { name, namespace: "sless-fn-team", uid: name } } as LivePod;
    return results.of({ kind: "FunctionJob", namespace: "team", name }, pod, CUT);
  };
  for (let forged = 0; forged < 20; forged += 1) ask(`forged-${forged}`);
  ask("honest");
  await eventually(
    "it is told",
    async () => told,
    (names) => names.includes("honest"),
  );
  expect(ask("honest")).toBe(WHOLE);
  expect(told).toEqual(["honest"]);
  stop.abort();
});
