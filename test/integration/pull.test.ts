import { join } from "node:path";
import { expect, it } from "vitest";
import { loadRuntimes } from "../../src/runtimes/index.ts";
import { createClient } from "../../src/server/client.ts";
import { packArchive } from "../../src/source/index.ts";
import { filesBelow } from "../pull/pull-world.ts";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";
import { openGit } from "../sync/sync-world.ts";

const ROOT = join(import.meta.dirname, "../..");

/** `sless pull` against a running server, over HTTP. */
async function pull(app: TestApp, into: string, ...args: string[]) {
  const deps = { createClient, openGitReader: openGit, loadRuntimes: () => loadRuntimes(join(ROOT, "runtimes")) };
  return testCli(["pull", "--into", into, "--endpoint", app.app.url, ...args], { deps });
}

async function send(
  app: TestApp,
  method: string,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  type = "application/json",
) {
  const url = `${app.app.url}/v1/namespaces/default/${path}`;
  const response = await fetch(url, { method, body, headers: { "content-type": type } });
  expect(response.status).toBeLessThan(300);
}

/** Makes a function with a trigger through REST. */
async function create(app: TestApp, name: string, code: string) {
  await send(app, "POST", "functions", JSON.stringify({ name, runtime: "python3.11", env_vars: { WHO: name } }));
  const trigger = { name: `${name}-http`, type: "http", function_ref: name };
  await send(app, "POST", "triggers", JSON.stringify(trigger));
  const zip = await packArchive([
    { path: "handler.py", mode: "100644", content: Buffer.from(code) },
    { path: "bin/tool", mode: "100755", content: Uint8Array.from([0, 1, 254, 255]) },
  ]);
  await send(app, "POST", `functions/${name}/upload`, new Uint8Array(zip), "application/zip");
}

it("what was made through REST comes into the checkout, is pushed, and answers as before", async () => {
  const repository = await gitRepository(pythonFunction("one", answering("git")));
  const app = await startTestApp(repository);
  await app.app.settled();
  await create(app, "two", answering("rest"));
  const before = await app.object<"Function">("functions", "two");

  const first = await pull(app, repository.work);
  expect(first.stderr).toBe("");
  expect(first.stdout).toContain("2 created, 2 unchanged");
  await app.synced(await repository.commit("pulled", {}));
  const after = await app.object<"Function">("functions", "two");
  expect(after.spec).toEqual(before.spec);
  expect(after.metadata).toMatchObject({ uid: before.metadata.uid, generation: before.metadata.generation });
  expect((await app.object<"Repository">("repositories", "test")).status?.diagnostics?.count ?? 0).toBe(0);
  await eventually(
    "two answers",
    () => app.call("two"),
    ({ body }) => body === "rest",
  );

  expect((await pull(app, repository.work)).stdout).toContain("4 unchanged\n");
  expect(await repository.git("status", "--porcelain")).toBe("");
});

it("a lost repository is made anew from the server, and another server runs the same", async () => {
  const files = {
    ...pythonFunction("one", answering("1"), { memoryMB: 64 }),
    "functions/one/data.bin": Uint8Array.from([0, 255]),
  };
  const app = await startTestApp(await gitRepository(files));
  await app.app.settled();
  const into = join(await temporaryFolder(), "rescued");
  expect(await pull(app, into, "--repository", "test")).toMatchObject({ code: 0 });
  const rescued = await gitRepository(await filesBelow(into));
  const other = await startTestApp(rescued);
  await other.synced(rescued.head);
  const [a, b] = [await app.object("functions", "one"), await other.object("functions", "one")];
  expect(b.spec).toEqual(a.spec);
  expect(await other.call("one")).toEqual({ status: 200, body: 1 });
});
