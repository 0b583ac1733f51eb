import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSharedRuns, type RunUser } from "../../src/build/shared-runs.ts";
import { systemClock } from "../../src/controller/clock.ts";
import { logFile } from "../../src/processes/index.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function world() {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "runs"));
  const begun: { readonly signal: AbortSignal; end(result: string): void }[] = [];
  const runs = openSharedRuns<string, string>({
    folder: join(folder, "runs"),
    clock: systemClock,
    async run(_key, _wanted, { signal, log }) {
      await log.append(Buffer.from(`run ${begun.length + 1}\n`));
      const result = await new Promise<string>((end) => void begun.push({ signal, end }));
      // As a command that is being ended: it takes its time, and then tells that it was.
      signal.throwIfAborted();
      return result;
    },
  });
  const user = (name: string, signal: AbortSignal): RunUser => ({
    log: logFile(join(folder, `${name}.log`), { maxBytes: 10_000, whenFull: "stop" }),
    signal,
    step: () => undefined,
  });
  const began = (count: number) =>
    eventually(
      `run ${count}`,
      () => begun.length,
      (length) => length === count,
    );
  return { folder, runs, begun, began, user };
}

it("who comes while a run that nobody wants is being ended gets a run of its own", async () => {
  const { folder, runs, begun, began, user } = await world();
  const leaving = new AbortController();
  const first = runs.provide("key", "a", user("first", leaving.signal));
  await began(1);
  const given = expect(first).rejects.toThrow("deleted");
  leaving.abort(new Error("deleted"));
  await eventually(
    "it is being ended",
    () => begun[0]!.signal.aborted,
    (isAborted) => isAborted,
  );
  const log = user("second", new AbortController().signal);
  const second = runs.provide("key", "a", log);
  begun[0]!.end("late");
  await given;
  await began(2);
  begun[1]!.end("whole");
  expect(await second).toBe("whole");
  let output = "";
  for await (const chunk of log.log.read({ follow: false, signal: log.signal })) output += chunk;
  expect(output).toBe("run 2\n");
  expect(await readdir(join(folder, "runs"))).toEqual([]);
});

it("many who want the same share one run, which ends for all of them", async () => {
  const { runs, begun, began, user } = await world();
  const { signal } = new AbortController();
  const all = ["a", "b", "c"].map((name) => runs.provide("key", name, user(name, signal)));
  await began(1);
  begun[0]!.end("one");
  expect(await Promise.all(all)).toEqual(["one", "one", "one"]);
  expect(begun).toHaveLength(1);
});
