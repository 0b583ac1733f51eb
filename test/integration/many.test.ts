import { describe, expect, it } from "vitest";
import { answering, pythonFunction, startTestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { type Files, gitRepository } from "../support/git-repository.ts";
import { httpServer } from "../support/http-server.ts";

const MANY = 300;
const SERVING = 5;

const merged = (files: readonly Files[]): Files => Object.assign({}, ...files);

describe("many functions", () => {
  it("in one push all come to their end, and those with replicas answer", async () => {
    const repository = await gitRepository({ "README.md": "functions\n" });
    const { app, call, client, synced, events } = await startTestApp(repository);
    await app.settled();
    const functions = Array.from({ length: MANY }, (_, n) =>
      pythonFunction(`f${n}`, answering(n), { replicas: n < SERVING ? 1 : 0 }),
    );
    await synced(await repository.commit("many", merged(functions)));

    const all = await client.list("functions", { namespace: "default" });
    expect(all).toHaveLength(MANY);
    expect(all.filter(({ phase }) => phase !== "Ready")).toEqual([]);
    expect(
      new Set(events.filter(({ step }) => step === "built").map((event) => "object" in event && event.object.name)),
    ).toEqual(new Set(Array.from({ length: SERVING }, (_, n) => `f${n}`)));
    const calls = Array.from({ length: 40 }, (_, n) => call(`f${n % SERVING}`));
    expect(await Promise.all(calls)).toEqual(
      Array.from({ length: 40 }, (_, n) => ({ status: 200, body: n % SERVING })),
    );
    expect(await call(`f${SERVING}`)).toMatchObject({ status: 503, body: { code: "scaled_to_zero" } });

    events.length = 0;
    await synced(await repository.commit("one", { "functions/f7/handler.py": answering("changed") }));
    expect(new Set(events.flatMap((event) => ("object" in event ? [event.object.name] : [])))).toEqual(new Set(["f7"]));
  });
});

describe("functions that are deployed at once", () => {
  it("do not wait for one whose build hangs, and that one is deleted in the middle of it", async () => {
    // A package index that never answers.
    const index = await httpServer(() => {});
    const env = { PIP_INDEX_URL: `${index.origin}/simple`, PIP_FIND_LINKS: "" };
    const repository = await gitRepository({ "README.md": "functions\n" });
    const { app, call, object, client, synced } = await startTestApp(repository, { env });
    await app.settled();
    const hanging = {
      ...pythonFunction("hanging", answering("never")),
      "functions/hanging/requirements.txt": "no-such-package\n",
    };
    await repository.commit(
      "four",
      merged([hanging, ...["a", "b", "c"].map((name) => pythonFunction(name, answering(name)))]),
    );
    await eventually(
      "it is being built",
      () => object<"Function">("functions", "hanging").catch(() => undefined),
      (seen) => seen?.status?.phase === "Building",
    );
    for (const name of ["a", "b", "c"]) {
      await eventually(
        `${name} answers`,
        () => call(name),
        ({ body }) => body === name,
      );
    }

    await synced(
      await repository.commit("delete", { "functions/hanging": null, "functions/a/handler.py": answering("changed") }),
    );
    expect(await call("a")).toEqual({ status: 200, body: "changed" });
    expect(await call("hanging")).toMatchObject({ status: 404 });
    const left = await client.list("functions", { namespace: "default" });
    expect(left.map(({ name, phase }) => [name, phase])).toEqual([
      ["a", "Ready"],
      ["b", "Ready"],
      ["c", "Ready"],
    ]);
  });
});
