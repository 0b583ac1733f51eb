import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { act, send } from "./exchange.ts";
import { hasWritten, type Image } from "./replica.ts";
import type { Subject } from "./subject.ts";

/** Start, end, and the single run of a job. */
export function lifeCases(subject: Subject): void {
  drainCases(subject);
  parentCases(subject);
  jobCases(subject);
  loadCases(subject);
}

function drainCases(subject: Subject): void {
  it("SIGTERM lets the calls in flight end, takes no more, and exits with 0", async () => {
    const replica = await subject.start();
    const idle = connect(replica.port, "127.0.0.1");
    await once(idle, "connect");
    const call = act(replica.origin, "sleep", { ms: 3_000 }, { headers: { connection: "keep-alive" } });
    await hasWritten(replica.stdout, "asleep");
    replica.process.kill("SIGTERM");
    await eventually(
      "it refuses",
      () =>
        send(replica.origin).then(
          () => "taken",
          () => "refused",
        ),
      (seen) => seen === "refused",
    );
    const reply = await call;
    expect([reply.status, reply.body.toString(), reply.headers.connection]).toEqual([200, "slept", "close"]);
    expect(await replica.exited()).toBe(0);
    idle.destroy();
  });

  it("SIGTERM without calls exits with 0 at once", async () => {
    const replica = await subject.start();
    expect((await act(replica.origin, "describe")).status).toBe(200);
    replica.process.kill("SIGTERM");
    expect(await replica.exited()).toBe(0);
  });

  it("a second SIGTERM, or the end of the time to drain, ends the calls too", async () => {
    const [twice, late] = await Promise.all([subject.start(), subject.start({ SLESS_DRAIN_SEC: "1" })]);
    const calls = [twice, late].map((replica) =>
      act(replica.origin, "sleep", { ms: 30_000 }).then(
        () => "answered",
        () => "broken",
      ),
    );
    await Promise.all([twice, late].map((replica) => hasWritten(replica.stdout, "asleep")));
    twice.process.kill("SIGTERM");
    late.process.kill("SIGTERM");
    await eventually(
      "it drains",
      () =>
        send(twice.origin).then(
          () => "taken",
          () => "refused",
        ),
      (seen) => seen === "refused",
    );
    twice.process.kill("SIGTERM");
    expect(await Promise.all([twice.exited(), late.exited()])).toEqual([143, 143]);
    expect(await Promise.all(calls)).toEqual(["broken", "broken"]);
  });
}

function parentCases(subject: Subject): void {
  it("the end of the parent is the end of the replica", async () => {
    const replica = await subject.start();
    replica.orphan();
    expect(await replica.exited()).toSatisfy((code) => code === "SIGKILL" || code === 1);
  });

  it("the end of the parent is the end also of a handler that blocks", async () => {
    const replica = await subject.start();
    const call = act(replica.origin, "block").catch(() => "broken");
    await hasWritten(replica.stdout, "blocking");
    replica.orphan();
    await replica.exited();
    expect(await call).toBe("broken");
  });
}

function jobCases(subject: Subject): void {
  let count = 0;
  async function runJob(entrypoint: string, event: string | undefined, env: Record<string, string> = {}) {
    count += 1;
    const files = [subject.scratch(`event-${count}`), subject.scratch(`result-${count}`)] as const;
    if (event !== undefined) await writeFile(files[0], event);
    const image: Image = await subject.image("job", `${entrypoint}.handle`);
    const job = subject.spawn(
      {
        SLESS_JOB: "1",
        SLESS_ENTRYPOINT: `${entrypoint}.handle`,
        SLESS_EVENT_FILE: files[0],
        SLESS_RESULT_FILE: files[1],
        ...env,
      },
      image,
    );
    const code = await job.exited();
    return { code, stderr: job.stderr(), result: await readFile(files[1], "utf8").catch(() => undefined) };
  }

  it.each([
    ["a string as it is", '{"give":"done"}', "done"],
    ["a map as JSON", '{"give":{"rows":3}}', '{"rows":3}'],
    ["null as nothing", '{"give":null}', ""],
    ["the body of a statusCode map", '{"give":{"statusCode":200,"body":"fine"}}', "fine"],
    ["the empty map for no event", undefined, '{"event":{},"trigger":"job"}'],
    ["the empty map for an empty event", " \n", '{"event":{},"trigger":"job"}'],
  ])("a job's result is %s", async (_name, event, expected) => {
    const run = await runJob("job", event);
    expect(run).toMatchObject({ code: 0, result: expected });
  });

  it.each([
    ["shorter is whole, and not in the log", "é".repeat(20), "é".repeat(20), ""],
    ["as long is whole", "e".repeat(60), "e".repeat(60), ""],
    [
      "longer says so, cuts no character, and stands whole in the log",
      "é".repeat(50),
      `${"é".repeat(7)}… (truncated, 100 bytes in all; see the log)`,
      "é".repeat(50),
    ],
  ])("a result that may be 60 bytes long and is %s", async (_name, give, expected, logged) => {
    const run = await runJob("job", JSON.stringify({ give }), { SLESS_RESULT_MAX: "60" });
    expect(run).toMatchObject({ code: 0, result: expected });
    expect(run.stderr).toContain(logged);
    expect(run.stderr.includes(give)).toBe(logged !== "");
  });

  it.each([
    ["all of it", 100, "é".repeat(50)],
    ["as much as is asked for", 61, `${"é".repeat(30)}\u{fffd}`],
  ])("a result that was cut can be read back from the log's last lines: %s", async (_name, copy, expected) => {
    const give = `${"é".repeat(50)}`;
    const run = await runJob("job", JSON.stringify({ give }), {
      SLESS_RESULT_MAX: "60",
      SLESS_RESULT_COPY: String(copy),
    });
    expect(copiedBytes(run.stderr, 1).toString()).toBe(expected);
  });

  it("a copy of a result is lines of which each is written at once, the last of all", async () => {
    const give = "0123456789".repeat(1_000);
    const run = await runJob("job", JSON.stringify({ give }), {
      SLESS_RESULT_MAX: "4096",
      SLESS_RESULT_COPY: "65536",
    });
    expect(run.result).toMatch(/… \(truncated, 10000 bytes in all; see the log\)$/);
    expect(Buffer.byteLength(run.result ?? "")).toBe(4_096);
    expect(copiedBytes(run.stderr, 4).toString()).toBe(give);
  });

  it("a result that its file holds is in the log neither whole nor as a copy", async () => {
    const env = { SLESS_RESULT_MAX: "60", SLESS_RESULT_COPY: "100" };
    expect((await runJob("job", '{"give":"short"}', env)).stderr).not.toMatch(/short|sless-result/);
  });

  it("a job that fails exits with 1, its stack in the log and no result", async () => {
    const run = await runJob("job", '{"fail":"no such table"}');
    expect(run).toMatchObject({ code: 1, result: undefined });
    expect(run.stderr).toContain("no such table");
    expect(run.stderr.trimEnd().split("\n").at(-1)).toMatch(/^sless: the handler failed: .*no such table/);
  });

  it("a job whose answer is an error status failed", async () => {
    expect(await runJob("job", '{"give":{"statusCode":503,"body":"later"}}')).toMatchObject({
      code: 1,
      result: "later",
    });
  });

  it.each(["wait", "block"])("a job that would %s for ever is ended at its limit", async (how) => {
    const run = await runJob("job", JSON.stringify({ how }), { SLESS_TIMEOUT_SEC: "1" });
    expect(run).toMatchObject({ code: 75, result: undefined });
    expect(run.stderr).toContain("sless: timed out after 1 s\n");
  });

  it("an event that is no JSON is refused with a reason", async () => {
    const run = await runJob("job", "{");
    expect(run.code).toBe(65);
    expect(run.stderr).toMatch(/^sless: the event .*eventJSON/m);
  });
}

/** What the last lines of a log hold, which are so many. */
function copiedBytes(log: string, count: number): Buffer {
  const lines = log.trimEnd().split("\n").slice(-count);
  const parts = lines.map((line) => /^sless-result ([0-9a-f]{16}) (\d+)\/(\d+) ([A-Za-z0-9+/]+=*)$/.exec(line));
  expect(parts.map((part) => `${part?.[2]}/${part?.[3]}`)).toEqual(lines.map((_, index) => `${index + 1}/${count}`));
  for (const line of lines) expect(line.length).toBeLessThan(4_096);
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part?.[4] ?? "", "base64")));
  const id = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  expect(new Set(parts.map((part) => part?.[1]))).toEqual(new Set([id]));
  return bytes;
}

function loadCases(subject: Subject): void {
  it("a setting that is no number is refused with a reason", async () => {
    const replica = subject.spawn({ SLESS_TIMEOUT_SEC: "soon" });
    expect(await replica.exited()).toBe(65);
    expect(replica.stderr()).toMatch(/^sless: SLESS_TIMEOUT_SEC is .*soon/);
  });

  it("a taken port is told", async () => {
    const replica = subject.spawn({ PORT: String(subject.shared().port) });
    expect(await replica.exited()).toBe(65);
    expect(replica.stderr()).toMatch(/^sless: port \d+ cannot be listened on/m);
  });

  it.each(["other.greet", "other:greet", "sub/deep.greet", "sub.deep:greet"])(
    "the entry point %s is found",
    async (entrypoint) => {
      const image = await subject.image("entries", entrypoint);
      const replica = await subject.start({ SLESS_ENTRYPOINT: entrypoint }, image);
      const reply = await send(replica.origin, { method: "GET" });
      expect(reply.body.toString()).toBe(`greetings from ${entrypoint.startsWith("other") ? "other" : "deep"}`);
    },
  );
}
