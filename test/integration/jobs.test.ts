import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createClient } from "../../src/server/client.ts";
import { answering, pythonFunction, startTestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { type Files, gitRepository } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

function job(spec: Readonly<Record<string, unknown>>): string {
  return [
    "apiVersion: sless.kube5s.ru/v1alpha1",
    "kind: FunctionJob",
    "metadata: {name: report}",
    `spec: ${JSON.stringify(spec)}`,
    "",
  ].join("\n");
}

const inline = (code: string, spec: Readonly<Record<string, unknown>> = {}): Files => ({
  "jobs/report/job.yaml": job({ runtime: "python3.11", runID: 1, ...spec }),
  "jobs/report/handler.py": code,
});

/** Appends a line to a file for every run, and returns how often it ran. */
const counting = (file: string) => `def handle(event, context):
    with open(${JSON.stringify(file)}, "a+") as runs:
        runs.write("run\\n")
        runs.seek(0)
        return {"runs": len(runs.readlines()), "event": event}
`;

describe("a job", () => {
  it("runs once for every raise of its runID, and for no other change", async () => {
    const runs = join(await temporaryFolder(), "runs");
    const repository = await gitRepository(inline(counting(runs), { eventJSON: '{"month":5}' }));
    const { app, object, synced } = await startTestApp(repository);
    const message = async () => JSON.parse((await object<"FunctionJob">("jobs", "report")).status?.message ?? "null");
    await app.settled();
    expect(await message()).toEqual({ runs: 1, event: { month: 5 } });

    await synced(await repository.commit("event", inline(counting(runs), { eventJSON: '{"month":6}' })));
    expect(await message()).toEqual({ runs: 1, event: { month: 5 } });

    await synced(await repository.commit("again", inline(counting(runs), { eventJSON: '{"month":6}', runID: 2 })));
    expect(await message()).toEqual({ runs: 2, event: { month: 6 } });
    expect((await readFile(runs, "utf8")).length).toBe(2 * "run\n".length);
  });

  it("with runID 0 does not run", async () => {
    const repository = await gitRepository(inline(answering(1), { runID: 0 }));
    const { app, object } = await startTestApp(repository);
    await app.settled();
    expect((await object<"FunctionJob">("jobs", "report")).status).toMatchObject({ phase: "Skipped" });
  });

  it("that fails keeps the reason and the last lines, and the next run may succeed", async () => {
    const repository = await gitRepository(inline("def handle(event, context):\n    raise ValueError('no data')\n"));
    const { app, object, synced } = await startTestApp(repository);
    await app.settled();
    const failed = (await object<"FunctionJob">("jobs", "report")).status;
    expect(failed).toMatchObject({ phase: "Failed", lastRunID: 1 });
    expect(failed?.message).toContain("ValueError: no data");

    await synced(await repository.commit("mended", inline(answering("done"), { runID: 2 })));
    expect((await object<"FunctionJob">("jobs", "report")).status).toMatchObject({
      phase: "Succeeded",
      message: "done",
      lastRunID: 2,
    });
  });

  it("that has a long result tells it whole, and of a longer one the beginning and where the rest is", async () => {
    const code = (rows: number) => `def handle(event, context):
    return "\\n".join(f"row {number} é" for number in range(${rows}))
`;
    const result = (rows: number) => Array.from({ length: rows }, (_, row) => `row ${row} é`).join("\n");
    const repository = await gitRepository(inline(code(4_000)));
    const { app, object, synced } = await startTestApp(repository);
    await app.settled();
    expect((await object<"FunctionJob">("jobs", "report")).status?.message).toBe(result(4_000));
    const sless = (...argv: string[]) =>
      testCli([...argv, "--endpoint", app.url], { deps: { createClient }, env: { NO_COLOR: "1" } });
    const table = (await sless("get", "job", "report", "-o", "wide")).stdout;
    expect(table).toContain("row 0 é");
    expect(table.length).toBeLessThan(1_000);
    expect(JSON.parse((await sless("get", "job", "report", "-o", "json")).stdout).status.message).toBe(result(4_000));
    expect(parse((await sless("get", "job", "report", "-o", "yaml")).stdout).status.message).toBe(result(4_000));
    expect((await sless("describe", "job", "report")).stdout).toContain("row 3999 é");

    await synced(await repository.commit("more", inline(code(10_000), { runID: 2 })));
    const { status } = await object<"FunctionJob">("jobs", "report");
    const total = Buffer.byteLength(result(10_000));
    expect(status?.message?.endsWith(`… (truncated, ${total} bytes in all; see the log)`)).toBe(true);
    expect(result(10_000).startsWith(status?.message?.replace(/… \(truncated.*$/, "") ?? "-")).toBe(true);
    expect((await sless("logs", "job/report")).stdout).toContain("row 9999 é");
  });

  it("with functionRef waits for its function, and runs the function's code once it is there", async () => {
    const byRef = { "jobs/report/job.yaml": job({ functionRef: "one", runID: 1, eventJSON: '{"name":"Ada"}' }) };
    const repository = await gitRepository(byRef);
    const { app, object, synced } = await startTestApp(repository);
    await app.settled();
    const waiting = (await object<"FunctionJob">("jobs", "report")).status;
    expect(waiting).toMatchObject({ phase: "Pending" });
    expect(waiting?.conditions?.[0]?.reason).toBe("FunctionNotFound");

    const code = "def handle(event, context):\n    return 'Hello, ' + event['name']\n";
    await synced(await repository.commit("function", pythonFunction("one", code)));
    const ended = await eventually(
      "the job's end",
      () => object<"FunctionJob">("jobs", "report"),
      ({ status }) => status?.completionTime !== undefined,
    );
    expect(ended.status).toMatchObject({ phase: "Succeeded", message: "Hello, Ada" });
  });

  it("that is deleted while it runs is ended", async () => {
    const file = join(await temporaryFolder(), "pid");
    const code = `import os, time
def handle(event, context):
    with open(${JSON.stringify(file)}, "w") as pid:
        pid.write(str(os.getpid()))
    time.sleep(600)
`;
    const repository = await gitRepository(inline(code, { timeoutSec: 900 }));
    await startTestApp(repository);
    const pid = Number(
      await eventually(
        "the run",
        () => readFile(file, "utf8").catch(() => ""),
        (text) => text !== "",
      ),
    );
    await repository.commit("gone", { "jobs/report/job.yaml": null, "jobs/report/handler.py": null });
    await eventually(
      "the end of its process",
      () => isRunning(pid),
      (running) => !running,
    );
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
