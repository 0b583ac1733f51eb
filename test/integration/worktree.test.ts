import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";

const HANDLER = "functions/one/handler.py";

async function save(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

const answers = (app: TestApp, name: string, value: unknown) =>
  eventually(
    `${name} answers ${JSON.stringify(value)}`,
    () => app.call(name),
    ({ body }) => JSON.stringify(body) === JSON.stringify(value),
  );

async function followed(files: Readonly<Record<string, string>>) {
  const repository = await gitRepository(files);
  const app = await startTestApp(repository, { worktree: true });
  await app.app.settled();
  return { ...app, started: app, repository, dir: repository.dir };
}

describe("in a work tree that is followed", () => {
  it("saving a handler changes the answer, and committing it changes nothing more", async () => {
    const { app, started, dir, repository, events, object, synced } = await followed(
      pythonFunction("one", answering(0)),
    );
    for (let round = 1; round <= 3; round++) {
      await save(dir, { [HANDLER]: answering(round) });
      await answers(started, "one", round);
    }
    // The answer comes before the status that tells of it.
    await app.settled();

    const { status } = await object<"Repository">("repositories", "test");
    expect(status?.lastAppliedRevision).toMatch(/^main@worktree:[0-9a-f]{40}$/);
    const edited = await object<"Function">("functions", "one");
    events.length = 0;
    await synced(await repository.commit("the same", {}));
    expect((await object<"Function">("functions", "one")).status?.sourceDigest).toBe(edited.status?.sourceDigest);
    expect(events.map(({ step }) => step)).toEqual(["fetched"]);
  });

  it("a new folder that nobody added is deployed, and what git ignores is not shipped", async () => {
    const { started, dir, app } = await followed({ ".gitignore": "*.local\nnode_modules/\n" });
    await save(dir, {
      ...pythonFunction("one", answering("new")),
      "functions/one/secret.local": "not to be shipped",
      "functions/one/node_modules/x/index.js": "",
    });
    await answers(started, "one", "new");
    const shipped = await fetch(`${app.url}/v1/namespaces/default/functions/one/source`);
    expect(await shipped.json()).toEqual([{ name: "handler.py", content: answering("new") }]);
  });

  it("a manifest that does not parse is told with its line, and the old version goes on", async () => {
    const { started, dir, object, readyReason } = await followed(pythonFunction("one", answering("old")));
    const broken = "apiVersion: sless.kube5s.ru/v1alpha1\nkind: Function\n  metadata: [\n";
    await save(dir, { "functions/one/function.yaml": broken });
    expect(await readyReason("BuildFailed")).toMatch(/^functions\/one\/function\.yaml:\d+:\d+: /);
    expect((await object<"Repository">("repositories", "test")).status?.lastAppliedRevision).toMatch(/^main@sha1:/);
    expect(await started.call("one")).toMatchObject({ body: "old" });
    await save(dir, pythonFunction("one", answering("mended")));
    await answers(started, "one", "mended");
  });

  it("nothing is deleted while its folder is away, and it is followed again when it is back", async () => {
    const { started, dir, readyReason } = await followed(pythonFunction("one", answering("here")));
    await rename(dir, `${dir}.away`);
    expect(await readyReason("GitOperationFailed")).toContain("there is no such folder");
    expect(await started.call("one")).toMatchObject({ body: "here" });
    await rename(`${dir}.away`, dir);
    await readyReason("ReconciliationSucceeded");
    await save(dir, { [HANDLER]: answering("back") });
    await answers(started, "one", "back");
  });

  it("a function whose folder is deleted is gone", async () => {
    const { started, dir } = await followed({
      ...pythonFunction("one", answering(1)),
      ...pythonFunction("two", answering(2)),
    });
    await rm(join(dir, "functions/two"), { recursive: true });
    await eventually(
      "two is gone",
      () => started.call("two"),
      ({ status }) => status === 404,
    );
    expect((await started.call("one")).status).toBe(200);
  });

  it("a checkout that changes 1,000 files is one sync or two, and ends in exactly that commit", async () => {
    const data = (text: string) =>
      Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`functions/one/data/f${n}`, `${text} ${n}`]));
    const files = (text: string) => ({ ...pythonFunction("one", answering(text)), ...data(text) });
    const repository = await gitRepository({ ...files("old"), ...pythonFunction("two", answering("two")) });
    await repository.git("checkout", "--quiet", "-b", "next");
    const commit = await repository.commit("next", { ...files("new"), "functions/two": null });
    await repository.git("checkout", "--quiet", "main");
    const started = await startTestApp(repository, { worktree: true, branch: "next" });
    await started.app.settled();

    started.events.length = 0;
    await repository.git("checkout", "--quiet", "next");
    await started.synced(commit);
    expect(await started.call("one")).toMatchObject({ body: "new" });
    expect(await started.call("two")).toMatchObject({ status: 404 });
    const count = (step: string) => started.events.filter((event) => event.step === step).length;
    expect(count("stored")).toBeGreaterThan(0);
    expect(count("stored")).toBeLessThanOrEqual(2);
    expect(count("deleted")).toBe(2);
    expect(count("fetched")).toBeLessThanOrEqual(2);
  });
});
