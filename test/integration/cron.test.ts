import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findCondition, type ObjectOf } from "../../src/apis/index.ts";
import type { TimerClock } from "../../src/controller/index.ts";
import { startTestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { type Files, gitRepository } from "../support/git-repository.ts";
import { manualClock } from "../support/manual-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const TEN_MINUTES_MS = 600_000;
const SPEED = 30;

/** A minute of it is two seconds. It begins six minutes after a full ten, where no tick lies between it and now. */
function fastClock(): TimerClock {
  const start = Math.floor(Date.now() / TEN_MINUTES_MS) * TEN_MINUTES_MS + 360_000;
  const begin = performance.now();
  const elapsed = () => (performance.now() - begin) * SPEED;
  return {
    now: () => new Date(start + elapsed()),
    monotonicMs: elapsed,
    setTimer(ms, callback) {
      const timer = setTimeout(callback, ms / SPEED);
      return () => clearTimeout(timer);
    },
  };
}

/** A function that notes its calls in a file, and its cron trigger. */
function noting(file: string, spec: object, trigger: object): Files {
  const manifest = (kind: string, name: string, fields: object) =>
    `apiVersion: sless.kube5s.ru/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${JSON.stringify(fields)}\n`;
  return {
    "functions/hello/function.yaml": `${manifest("Function", "hello", { runtime: "python3.11", ...spec })}---\n${manifest(
      "Trigger",
      "tick",
      { type: "cron", functionRef: "hello", ...trigger },
    )}`,
    "functions/hello/handler.py": `import json

def handle(event, context):
    note = {"id": context.request_id, "trigger": context.trigger, "event": event, "headers": context.request.headers}
    with open(${JSON.stringify(file)}, "a") as notes:
        notes.write(json.dumps(note) + "\\n")
    return {"noted": True}
`,
  };
}

interface Note {
  readonly id: string;
  readonly trigger: string;
  readonly event: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

async function notes(file: string): Promise<Note[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Note);
}

const lastCall = ({ status }: ObjectOf<"Trigger">) => findCondition(status?.conditions, "LastCall");

it("a pushed cron trigger calls its function at every tick", async () => {
  const file = join(await temporaryFolder(), "notes");
  const repository = await gitRepository(noting(file, {}, { schedule: "* * * * *", eventJSON: '{"n":1}' }));
  const { object } = await startTestApp(repository, { cronClock: fastClock() });
  const seen = await eventually(
    "three calls",
    () => notes(file),
    (found) => found.length >= 3,
  );

  const { metadata } = await object<"Trigger">("triggers", "tick");
  const times = seen.map(({ id }) => id.slice(metadata.uid.length + 1));
  expect(seen.map(({ id }) => id)).toEqual(times.map((time) => `${metadata.uid}/${time}`));
  expect(new Set(times).size).toBe(times.length);
  expect(seen[0]).toMatchObject({
    trigger: "cron",
    event: { n: 1 },
    headers: { "x-cron-trigger": "tick", "x-cron-time": times[0] },
  });
  const trigger = await eventually(
    "the outcome of a call",
    () => object<"Trigger">("triggers", "tick"),
    (found) => lastCall(found)?.status === "True",
  );
  expect(lastCall(trigger)?.message).toMatch(/^It answered 200 after \d+ ms: \{"noted": ?true\}$/);
});

it("a function at 0 replicas runs for its tick alone", async () => {
  const file = join(await temporaryFolder(), "notes");
  const trigger = { schedule: "*/10 * * * *", preWarmSeconds: 200 };
  const repository = await gitRepository(noting(file, { replicas: 0 }, trigger));
  // Four minutes before the tick, to which it moves on when the test lets it.
  const cronClock = manualClock("2026-01-01T00:06:00Z");
  const { app, object } = await startTestApp(repository, { cronClock });
  await app.settled();
  const func = () => object<"Function">("functions", "hello");
  const serving = ({ status }: ObjectOf<"Function">) => findCondition(status?.conditions, "Serving")?.status;
  const aSecondPasses = async <T>(read: () => Promise<T>, until = Number.POSITIVE_INFINITY) => {
    if (cronClock.monotonicMs() < until) cronClock.advance(1_000);
    return read();
  };

  const tickMs = 240_000;
  await eventually(
    "it to be started",
    () => aSecondPasses(func, tickMs - 10_000),
    (found) => serving(found) === "True",
  );
  expect(await notes(file)).toEqual([]);
  await eventually(
    "its call",
    () => aSecondPasses(() => notes(file), tickMs + 10_000),
    (found) => found.length === 1,
  );
  const stopped = await eventually(
    "it to be stopped",
    () => aSecondPasses(func),
    (found) => serving(found) === "False",
  );
  expect(findCondition(stopped.status?.conditions, "Serving")?.reason).toBe("ScaledToZero");
  expect(stopped.spec.replicas).toBe(0);
});

it("a tick of a function at 0 replicas that nobody warms is told as such", async () => {
  const file = join(await temporaryFolder(), "notes");
  const repository = await gitRepository(noting(file, { replicas: 0 }, { schedule: "* * * * *" }));
  const { object } = await startTestApp(repository, { cronClock: fastClock() });
  const trigger = await eventually(
    "the tick",
    () => object<"Trigger">("triggers", "tick").catch(() => undefined),
    (found) => found !== undefined && lastCall(found)?.status === "False",
  );
  expect(lastCall(trigger!)).toMatchObject({
    reason: "ScaledToZero",
    message: expect.stringMatching(/scaled to zero/),
  });
  expect(await notes(file)).toEqual([]);
});
