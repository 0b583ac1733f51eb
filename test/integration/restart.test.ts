import { readdir, rm, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { isTrue, type ObjectOf } from "../../src/apis/index.ts";
import { answering, callFunction, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { type Files, gitRepository } from "../support/git-repository.ts";
import { PLURAL_OF } from "../support/sless-process.ts";

/** Identity and content of every object; a restart may write statuses, and changes nothing else. */
async function identities({ client }: TestApp) {
  const lists = await Promise.all(
    Object.values(PLURAL_OF).map((plural) => client.listObjects(plural, { namespace: "default" })),
  );
  return lists.flat().map(({ kind, metadata, spec }) => ({
    kind,
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    annotations: metadata.annotations,
    spec,
  }));
}

/** Waits until a function gives this answer: its replicas are started in the background. */
function untilAnswers({ app }: TestApp, name: string, value: unknown) {
  const url = `${app.url}/fn/default/${name}`;
  return eventually(
    `${name} answers`,
    () => callFunction(url),
    ({ body }) => body === value,
  );
}

/** The file of the only handler of a data folder. */
async function handlerIn(data: string): Promise<string> {
  const images = join(data, "builds", "images");
  const [image = ""] = await readdir(images);
  return join(images, image, "source", "handler.py");
}

describe("after a restart", () => {
  it("the objects are the same, nothing is built, and every function answers", async () => {
    const repository = await gitRepository({
      ...pythonFunction("one", answering("1")),
      ...pythonFunction("two", answering("2"), { replicas: 2 }),
      ...pythonFunction("idle", answering("3"), { replicas: 0 }),
    });
    const first = await startTestApp(repository);
    await first.app.settled();
    const before = await identities(first);
    await first.app.close();

    const second = await startTestApp(repository, { data: first.data });
    await second.app.settled();
    await untilAnswers(second, "one", 1);
    await untilAnswers(second, "two", 2);
    expect(await identities(second)).toEqual(before);
    expect(second.events.filter(({ step }) => ["stored", "applied", "built", "failed"].includes(step))).toEqual([]);
    await eventually(
      "both replicas of two serve",
      () => second.object<"Function">("functions", "two"),
      ({ status }) => status?.phase === "Ready" && status.replicas === 2,
    );
  });

  it.each([
    ["does not start", "def handle(:\n", "StartFailed"],
    ["cannot be built", undefined, "DependenciesFailed"],
  ])("a version that %s leaves the last good one answering, and the status says both", async (_, code, reason) => {
    const repository = await gitRepository(pythonFunction("one", answering("good")));
    const first = await startTestApp(repository);
    await first.app.settled();
    const good = await first.object<"Function">("functions", "one");
    const broken: Files =
      code === undefined
        ? { "functions/one/handler.py": answering("never"), "functions/one/requirements.txt": "/no/such/package\n" }
        : { "functions/one/handler.py": code };
    await first.synced(await repository.commit("broken", broken));
    await first.app.close();

    const second = await startTestApp(repository, { data: first.data });
    await untilAnswers(second, "one", "good");
    await second.app.settled();
    const isBoth = (one: ObjectOf<"Function">) => one.status?.phase === "Failed" && isTrue(one, "Serving");
    const after = await eventually("both", () => second.object<"Function">("functions", "one"), isBoth);
    expect(after.status).toMatchObject({ imageRef: good.status?.imageRef, sourceDigest: good.status?.sourceDigest });
    expect(after.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", status: "False", reason }),
    );
    expect(await second.call("one")).toEqual({ status: 200, body: "good" });

    const mended = { "functions/one/handler.py": answering("better"), "functions/one/requirements.txt": null };
    await second.synced(await repository.commit("mended", mended));
    expect(await second.call("one")).toEqual({ status: 200, body: "better" });
  });

  it("what was pushed, deleted and scaled down meanwhile is what runs", async () => {
    const repository = await gitRepository({
      ...pythonFunction("changed", answering("old")),
      ...pythonFunction("gone", answering("gone")),
      ...pythonFunction("stopped", answering("stopped")),
    });
    const first = await startTestApp(repository);
    await first.app.settled();
    await first.app.close();
    const commit = await repository.commit("meanwhile", {
      "functions/changed/handler.py": answering("new"),
      "functions/gone": null,
      ...pythonFunction("stopped", answering("stopped"), { replicas: 0 }),
    });

    const second = await startTestApp(repository, { data: first.data });
    await second.synced(commit);
    expect(await second.call("changed")).toEqual({ status: 200, body: "new" });
    expect(await second.call("gone")).toMatchObject({ status: 404, body: { code: "no_such_function" } });
    expect(await second.call("stopped")).toMatchObject({ status: 503, body: { code: "scaled_to_zero" } });
  });

  it.each<[string, (data: string) => Promise<void>]>([
    ["an emptied file", async (data) => truncate(await handlerIn(data))],
    ["no code", async (data) => rm(dirname(await handlerIn(data)), { recursive: true })],
  ])("a function whose image has %s is built again, and the code is not blamed", async (_, spoil) => {
    const repository = await gitRepository(pythonFunction("one", answering("1")));
    const first = await startTestApp(repository);
    await first.app.settled();
    await first.app.close();
    await spoil(first.data);
    const second = await startTestApp(repository, { data: first.data });
    await untilAnswers(second, "one", 1);
    const notices = second.events.flatMap((event) => (event.step === "notice" ? [event.message] : []));
    expect(notices).toContainEqual(expect.stringMatching(/image of Function\/default\/one .* damaged.* made again/));
    expect(second.events.filter(({ step }) => step === "failed")).toEqual([]);
  });

  it("a function whose image is damaged while it runs is built again when its replicas do not start any more", async () => {
    const repository = await gitRepository({
      ...pythonFunction(
        "one",
        'import os, other\n\ndef handle(event, context):\n    return os._exit(3) if event.get("die") else "1"\n',
      ),
      "functions/one/other.py": "x = 1\n",
    });
    const app = await startTestApp(repository);
    await app.app.settled();
    await untilAnswers(app, "one", 1);
    await rm(join(dirname(await handlerIn(app.data)), "other.py"));
    const headers = { "content-type": "application/json" };
    await fetch(`${app.app.url}/fn/default/one`, { method: "POST", headers, body: '{"die":true}' });
    await untilAnswers(app, "one", 1);
    const notices = app.events.flatMap((event) => (event.step === "notice" ? [event.message] : []));
    expect(notices).toContainEqual(expect.stringMatching(/damaged: "source\/other.py" is gone/));
  });

  it("a function whose image was lost is built anew", async () => {
    const repository = await gitRepository(pythonFunction("one", answering("1")));
    const first = await startTestApp(repository);
    await first.app.settled();
    await first.app.close();
    await rm(join(first.data, "builds", "images"), { recursive: true });

    const second = await startTestApp(repository, { data: first.data });
    await untilAnswers(second, "one", 1);
    await second.app.settled();
    await eventually(
      "it is ready",
      () => second.object<"Function">("functions", "one"),
      ({ status }) => status?.phase === "Ready",
    );
  });
});
