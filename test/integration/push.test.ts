import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isTrue, type ObjectOf } from "../../src/apis/index.ts";
import type { ProgressEvent } from "../../src/report/index.ts";
import { answering, callFunction, pythonFunction, startTestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";
import { httpServer } from "../support/http-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const namesOf = (events: readonly ProgressEvent[], step: ProgressEvent["step"]) =>
  events.flatMap((event) => (event.step === step && "object" in event ? [event.object.name] : []));

describe("a push", () => {
  it("changes what its function answers and touches no other", async () => {
    const repository = await gitRepository({
      ...pythonFunction("one", answering("1")),
      ...pythonFunction("two", answering("2")),
    });
    const { app, call, events, synced } = await startTestApp(repository);
    await app.settled();
    expect(await call("one")).toEqual({ status: 200, body: 1 });

    events.length = 0;
    await synced(await repository.commit("one", { "functions/one/handler.py": answering("changed") }));

    expect(await call("one")).toEqual({ status: 200, body: "changed" });
    expect(await call("two")).toEqual({ status: 200, body: 2 });
    expect(new Set(events.map((event) => ("object" in event ? event.object.name : "test")))).toEqual(
      new Set(["test", "one"]),
    );
    expect(events.map((event) => event.step)).toEqual(["fetched", "planned", "stored", "applied", "built", "serving"]);
  });

  it("of another configuration builds nothing", async () => {
    const repository = await gitRepository(pythonFunction("one", answering("1")));
    const { app, object, events, synced } = await startTestApp(repository);
    await app.settled();
    const before = await object<"Function">("functions", "one");

    events.length = 0;
    const files = pythonFunction("one", answering("1"), { memoryMB: 256, env: { GREETING: "Hi" } });
    await synced(await repository.commit("memory", files));

    const after = await object<"Function">("functions", "one");
    expect(after.spec.memoryMB).toBe(256);
    expect(after.status?.imageRef).toBe(before.status?.imageRef);
    expect(namesOf(events, "stored")).toEqual([]);
    expect(namesOf(events, "built")).toEqual([]);
    expect(namesOf(events, "serving")).toEqual(["one"]);
  });

  it("that breaks a handler leaves the old version answering, and the next good one mends it", async () => {
    const repository = await gitRepository(pythonFunction("one", answering("good")));
    const { app, call, object, synced } = await startTestApp(repository);
    await app.settled();
    const before = await object<"Function">("functions", "one");

    await synced(await repository.commit("broken", { "functions/one/handler.py": "def handle(:\n" }));
    const broken = await object<"Function">("functions", "one");
    expect(broken.status).toMatchObject({
      phase: "Failed",
      imageRef: before.status?.imageRef,
      sourceDigest: before.status?.sourceDigest,
    });
    expect(broken.status?.message).toContain("SyntaxError");
    expect([isTrue(broken, "Ready"), isTrue(broken, "Serving")]).toEqual([false, true]);
    expect(await call("one")).toEqual({ status: 200, body: "good" });

    await synced(await repository.commit("mended", { "functions/one/handler.py": answering("better") }));
    expect(await call("one")).toEqual({ status: 200, body: "better" });
  });

  it("that deletes a function makes it unknown at once", async () => {
    const repository = await gitRepository({
      ...pythonFunction("one", answering("1")),
      ...pythonFunction("two", answering("2")),
    });
    const { app, call, synced } = await startTestApp(repository);
    await app.settled();
    await synced(
      await repository.commit("delete", { "functions/two/function.yaml": null, "functions/two/handler.py": null }),
    );
    expect(await call("two")).toMatchObject({ status: 404, body: { code: "no_such_function" } });
    expect((await call("one")).status).toBe(200);
  });

  it("with a file that does not parse deletes nothing and deploys the rest", async () => {
    const repository = await gitRepository({
      ...pythonFunction("one", answering("1")),
      ...pythonFunction("two", answering("2")),
    });
    const { app, call, object, synced } = await startTestApp(repository);
    await app.settled();
    const bad = {
      "functions/one/function.yaml": "apiVersion: sless.kube5s.ru/v1alpha1\nkind: Function\n  metadata: [",
    };
    await synced(await repository.commit("bad", { ...bad, "functions/two/handler.py": answering("new") }));

    expect(await call("one")).toEqual({ status: 200, body: 1 });
    expect(await call("two")).toEqual({ status: 200, body: "new" });
    const { status } = await object<"Repository">("repositories", "test");
    expect(status?.diagnostics?.items[0]).toMatchObject({ file: "functions/one/function.yaml" });
    expect(status?.diagnostics?.items[0]?.line).toBeGreaterThan(0);
    expect(status?.lastAppliedRevision).not.toBe(status?.lastAttemptedRevision);
  });

  it("while calls are in flight lets every one of them succeed", async () => {
    const slow = (value: string) =>
      `import time\ndef handle(event, context):\n    time.sleep(0.05)\n    return "${value}"\n`;
    const repository = await gitRepository(pythonFunction("one", slow("old")));
    const { app, synced } = await startTestApp(repository);
    await app.settled();
    const url = `${app.url}/fn/default/one`;
    const answers: { status: number; body: unknown }[] = [];
    let isRunning = true;
    const caller = async () => {
      while (isRunning) answers.push(await callFunction(url));
    };
    const callers = Array.from({ length: 10 }, caller);
    await synced(await repository.commit("new", { "functions/one/handler.py": slow("new") }));
    await eventually(
      "a call of the new version",
      () => answers.at(-1)?.body,
      (body) => body === "new",
    );
    isRunning = false;
    await Promise.all(callers);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(["old", "new"]));
  });
});

describe("a push upon another", () => {
  it("leaves the status true of the version between, which took over while the last one is built", async () => {
    // A package index that never answers: the last version is being built until the end.
    const index = await httpServer(() => {});
    const env = { PIP_INDEX_URL: `${index.origin}/simple`, PIP_FIND_LINKS: "" };
    const repository = await gitRepository(pythonFunction("one", answering("first")));
    const { app, call, object } = await startTestApp(repository, { env });
    await app.settled();
    const isPending = ({ status }: ObjectOf<"Function">) => status?.phase !== "Ready";
    const readOne = () => object<"Function">("functions", "one");

    const gate = join(await temporaryFolder(), "open");
    const slow = `import os, time\nwhile not os.path.exists(${JSON.stringify(gate)}): time.sleep(0.02)\n`;
    await repository.commit("second", { "functions/one/handler.py": slow + answering("second") });
    const second = await eventually("the second starts", readOne, isPending);
    await repository.commit("third", { "functions/one/requirements.txt": "no-such-package\n" });
    await eventually("the third is wanted", readOne, ({ spec }) => spec.s3Key !== second.spec.s3Key);
    await writeFile(gate, "");

    await eventually(
      "the second answers",
      () => call("one"),
      ({ body }) => body === "second",
    );
    const describesSecond = ({ spec, status }: ObjectOf<"Function">) =>
      spec.s3Key !== second.spec.s3Key && second.spec.s3Key?.includes(status?.sourceDigest ?? "none") === true;
    const seen = await eventually("the status of the second", readOne, describesSecond);
    expect(seen.status).toMatchObject({ phase: "Building" });
    expect(isTrue(seen, "Serving")).toBe(true);
  });
});

describe("a call", () => {
  it("of a handler that blocks its thread ends with 504 and a reason, and the function recovers", async () => {
    const code = "def handle(event, context):\n    while event.get('block'):\n        pass\n    return 'ok'\n";
    const repository = await gitRepository(pythonFunction("one", code, { timeoutSec: 1 }));
    const { app, call } = await startTestApp(repository);
    await app.settled();
    expect(await call("one", { block: true })).toMatchObject({ status: 504, body: { reason: "function_timeout" } });
    const url = `${app.url}/fn/default/one`;
    await eventually(
      "the function answers again",
      () => callFunction(url),
      ({ status }) => status === 200,
    );
  });

  it("of a handler that fails tells no stack, and the log has it", async () => {
    const repository = await gitRepository(
      pythonFunction("one", "def handle(event, context):\n    raise ValueError('secret place')\n"),
    );
    const { app, call, client } = await startTestApp(repository);
    await app.settled();
    const answer = await call("one");
    expect(answer).toMatchObject({ status: 500, body: { reason: "handler_error" } });
    expect(JSON.stringify(answer.body)).not.toContain("secret place");
    const readLog = async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of client.logs("functions", "one", { namespace: "default" })) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    };
    await eventually("the stack in the log", readLog, (log) => log.includes("ValueError: secret place"));
  });
});
