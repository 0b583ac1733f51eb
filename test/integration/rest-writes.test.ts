import { describe, expect, it } from "vitest";
import { packArchive } from "../../src/source/index.ts";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";

const V1 = "/v1/namespaces/default";

/** Sends JSON, or an archive, and answers status and body. */
async function send(app: TestApp, method: string, path: string, body?: unknown) {
  const isArchive = body instanceof Uint8Array;
  const response = await fetch(`${app.app.url}${V1}/${path}`, {
    method,
    ...(body !== undefined && {
      body: isArchive ? new Uint8Array(body) : JSON.stringify(body),
      headers: { "content-type": isArchive ? "application/zip" : "application/json" },
    }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

function zipOf(files: Readonly<Record<string, string>>): Promise<Uint8Array> {
  return packArchive(
    Object.entries(files).map(([path, text]) => ({ path, mode: "100644", content: Buffer.from(text) })),
  );
}

async function create(app: TestApp, name: string, code: string) {
  expect(await send(app, "POST", "functions", { name, runtime: "python3.11" })).toMatchObject({ status: 201 });
  const trigger = { name: `${name}-rest`, type: "http", function_ref: name };
  expect(await send(app, "POST", "triggers", trigger)).toMatchObject({ status: 201 });
  expect(await send(app, "POST", `functions/${name}/upload`, await zipOf({ "handler.py": code }))).toMatchObject({
    status: 200,
  });
}

const answers = (app: TestApp, name: string, value: unknown) =>
  eventually(
    `${name} answers ${value}`,
    () => app.call(name),
    ({ status, body }) => status === 200 && body === value,
  );

describe("a function made through REST", () => {
  it("answers once its archive is there, and follows what is changed", async () => {
    const app = await startTestApp(await gitRepository({ "README.md": "nothing yet" }));
    await create(app, "one", answering("first"));
    await answers(app, "one", "first");

    await send(app, "POST", "functions/one/upload", await zipOf({ "handler.py": answering("second") }));
    await answers(app, "one", "second");

    const code = "import os\ndef handle(event, context):\n    return os.environ.get('WHO')\n";
    await send(app, "POST", "functions/one/upload", await zipOf({ "handler.py": code }));
    await send(app, "PATCH", "functions/one", { env_vars: { WHO: "me" } });
    await answers(app, "one", "me");

    expect(await send(app, "PATCH", "triggers/one-rest", { enabled: false })).toMatchObject({ status: 200 });
    await eventually(
      "one is stopped",
      () => app.call("one"),
      ({ status }) => status === 404 || status === 503,
    );
    expect(await send(app, "DELETE", "functions/one")).toMatchObject({ status: 204 });
    expect(await app.call("one")).toMatchObject({ status: 404 });
    const { body } = await send(app, "GET", "events");
    expect(body.items).toContainEqual(
      expect.objectContaining({ type: "Normal", reason: "Serving", object: { kind: "Function", name: "one" } }),
    );
  });

  it("is not touched by syncs, and a push of its name is refused until it is equal or says adopt", async () => {
    const repository = await gitRepository(pythonFunction("two", answering("2")));
    const app = await startTestApp(repository);
    await create(app, "one", answering("rest"));
    await answers(app, "one", "rest");
    // Its status may still be on its way.
    const written = async () => {
      const { metadata, spec } = await app.object<"Function">("functions", "one");
      return { ...metadata, resourceVersion: undefined, spec };
    };
    const before = await written();

    await app.synced(await repository.commit("same name", pythonFunction("one", answering("git"))));
    expect(await written()).toEqual(before);
    const { status } = await app.object<"Repository">("repositories", "test");
    expect(status?.diagnostics?.items).toMatchObject([
      { code: "not_adopted", file: "functions/one/function.yaml", line: 2 },
    ]);

    await app.synced(await repository.commit("gone again", { "functions/one": null }));
    expect(await written()).toEqual(before);

    await app.synced(await repository.commit("equal", pythonFunction("one", answering("rest"))));
    const adopted = await app.object<"Function">("functions", "one");
    expect(adopted.metadata.annotations).toMatchObject({ "sless.kube5s.ru/path": "functions/one/function.yaml" });
    expect(adopted.spec).toEqual(before.spec);
    expect(await app.call("one")).toEqual({ status: 200, body: "rest" });
  });

  it("is taken over by a manifest that says adopt, and told so in the plan", async () => {
    const repository = await gitRepository(pythonFunction("two", answering("2")));
    const app = await startTestApp(repository);
    await create(app, "one", answering("rest"));
    const files = pythonFunction("one", answering("git"));
    const manifest = "functions/one/function.yaml";
    const adopting = files[manifest]!.replace(
      "metadata: {name: one}",
      "metadata: {name: one, annotations: {sless.kube5s.ru/adopt: enabled}}",
    );
    await app.synced(await repository.commit("adopt", { ...files, [manifest]: adopting }));
    await answers(app, "one", "git");
    expect(app.events.flatMap((event) => (event.step === "planned" ? event.changes : []))).toContainEqual(
      expect.stringContaining("adopt"),
    );
  });
});

describe("workloads of other kinds", () => {
  it("a replaced service serves with its new entry point and variables, and a job runs with every raise of its run", async () => {
    const app = await startTestApp(await gitRepository({ "README.md": "nothing yet" }));
    expect(await send(app, "POST", "services", { name: "one", runtime: "python3.11" })).toMatchObject({ status: 201 });
    const files = {
      "handler.py": answering("old"),
      "other.py": "import os\ndef run(event, context):\n    return os.environ['WHO']\n",
    };
    await send(app, "POST", "services/one/upload", await zipOf(files));
    await answers(app, "one", "old");
    const service = { runtime: "python3.11", entrypoint: "other.run", env_vars: { WHO: "new" } };
    expect(await send(app, "PUT", "services/one", service)).toMatchObject({ status: 200 });
    await answers(app, "one", "new");

    const job = { name: "once", runtime: "python3.11", event_json: '{"n": 1}', run_id: 1 };
    await send(app, "POST", "jobs", job);
    const code = "def handle(event, context):\n    return event['n'] + 1\n";
    await send(app, "POST", "jobs/once/upload", await zipOf({ "handler.py": code }));
    const ran = (runID: number, message: string) =>
      eventually(
        `run ${runID}`,
        () => app.object<"FunctionJob">("jobs", "once"),
        ({ status }) =>
          status?.phase === "Succeeded" && status.lastRunID === runID && (status.message ?? "").includes(message),
      );
    await ran(1, "2");
    await send(app, "PATCH", "jobs/once", { event_json: '{"n": 5}', run_id: 2 });
    await ran(2, "6");
  });
});

describe("a repository", () => {
  it("that is suspended through REST is followed again once it is resumed", async () => {
    const repository = await gitRepository(pythonFunction("one", answering("old")));
    const app = await startTestApp(repository);
    await app.app.settled();
    expect(await send(app, "PATCH", "repositories/test", { suspend: true })).toMatchObject({ status: 200 });
    const commit = await repository.commit("new", { "functions/one/handler.py": answering("new") });
    await app.app.settled();
    expect(await app.call("one")).toEqual({ status: 200, body: "old" });
    expect(await send(app, "PATCH", "repositories/test", { url: "/etc" })).toMatchObject({
      status: 400,
      body: { details: [{ field: "url" }] },
    });
    expect(await send(app, "PATCH", "repositories/test", { suspend: false })).toMatchObject({ status: 200 });
    await app.synced(commit);
    expect(await app.call("one")).toEqual({ status: 200, body: "new" });
  });
});

describe("an object of a repository", () => {
  it("is refused to every write with its repository, file and line", async () => {
    const app = await startTestApp(await gitRepository(pythonFunction("one", answering("git"), { memoryMB: 64 })));
    await app.app.settled();
    const before = await app.object<"Function">("functions", "one");
    const refused = {
      status: 409,
      body: {
        code: "owned_by_repository",
        details: [{ repository: "test", file: "functions/one/function.yaml", line: 2 }],
      },
    };
    expect(await send(app, "PATCH", "functions/one", { memory_mb: 256 })).toMatchObject(refused);
    expect(await send(app, "PUT", "functions/one", { runtime: "python3.11" })).toMatchObject(refused);
    expect(await send(app, "DELETE", "functions/one")).toMatchObject(refused);
    const zip = await zipOf({ "handler.py": answering("rest") });
    expect(await send(app, "POST", "functions/one/upload", zip)).toMatchObject(refused);
    expect(await app.object<"Function">("functions", "one")).toEqual(before);
    const ofTrigger = { body: { details: [{ file: "functions/one/function.yaml", line: 9 }] } };
    expect(await send(app, "DELETE", "triggers/one-http")).toMatchObject(ofTrigger);
  });

  it("may be scaled and stopped while its manifest leaves that open, and a push keeps it so", async () => {
    const repository = await gitRepository({
      ...pythonFunction("one", answering("1")),
      ...pythonFunction("two", answering("2"), { replicas: 1 }),
    });
    const app = await startTestApp(repository);
    await app.app.settled();
    expect(await send(app, "PATCH", "functions/one", { replicas: 2 })).toMatchObject({
      status: 200,
      body: { replicas: 2 },
    });
    expect(await send(app, "PATCH", "functions/one", { replicas: 2, memory_mb: 64 })).toMatchObject({ status: 409 });
    expect(await send(app, "PATCH", "functions/two", { replicas: 2 })).toMatchObject({ status: 409 });
    expect(await send(app, "PATCH", "triggers/one-http", { enabled: false })).toMatchObject({
      status: 200,
      body: { enabled: false },
    });
    await app.synced(await repository.commit("more", { "functions/one/handler.py": answering("new") }));
    expect((await app.object<"Function">("functions", "one")).spec.replicas).toBe(2);
    expect((await app.object<"Trigger">("triggers", "one-http")).spec.enabled).toBe(false);
  });
});
