import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RepositoryItem } from "../../src/server/client.ts";
import { answering, pythonFunction, startTestApp, type TestApp, type TestAppOptions } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitHttpServer } from "../support/git-http-server.ts";
import { type Files, gitRepository } from "../support/git-repository.ts";

const IN = { namespace: "default" };
const NOWHERE = { "README.md": "nothing of ours" };

/** Functions that are deployed and not started. */
const idle = (...names: string[]): Record<string, string> =>
  Object.assign({}, ...names.map((name) => pythonFunction(name, answering(name), { replicas: 0 })));

async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  return startTestApp(await gitRepository(NOWHERE), { ...options, env: { SLESS_GIT_NETWORKS: "127.0.0.0/8" } });
}

async function remote(files: Files, auth?: { username: string; password: string }) {
  const repository = await gitRepository(files, { bare: true });
  return { repository, server: await gitHttpServer(repository.dir, auth ? { auth } : {}) };
}

function repositoryThat(
  what: string,
  app: TestApp,
  name: string,
  holds: (item: RepositoryItem) => boolean,
): Promise<RepositoryItem> {
  return eventually(`${name} ${what}`, () => app.client.get("repositories", name, IN), holds);
}

const applied = (app: TestApp, name: string, commit: string) =>
  repositoryThat(`has ${commit}`, app, name, (item) => item.last_applied_revision === `main@sha1:${commit}`);

const names = async (app: TestApp) => (await app.client.list("functions", IN)).map(({ name }) => name);
const reasonOf = ({ conditions }: RepositoryItem) => conditions.find(({ type }) => type === "Ready")?.reason;

describe("a repository behind http", () => {
  it("serves what is pushed, at the next look or when somebody asks for one", async () => {
    const { repository, server } = await remote(pythonFunction("one", answering("old")));
    const app = await startApp();
    await app.client.create("repositories", { name: "team", url: server.url, interval: "1s" }, IN);
    await applied(app, "team", repository.head);
    await app.app.settled();
    expect(await app.call("one")).toEqual({ status: 200, body: "old" });
    const polled = await repository.commit("new", { "functions/one/handler.py": answering("new") });
    await applied(app, "team", polled);
    await app.app.settled();
    expect(await app.call("one")).toEqual({ status: 200, body: "new" });
    await app.client.patch("repositories", "team", { interval: "1h" }, IN);
    const asked = await repository.commit("more", idle("two"));
    await app.client.reconcile("team", IN);
    await applied(app, "team", asked);
    expect(await names(app)).toEqual(["one", "two"]);
  });

  it("that fails keeps what runs as it is, says why, and is followed again", async () => {
    const { repository, server } = await remote(pythonFunction("one", answering("old")));
    const app = await startApp();
    await app.client.create("repositories", { name: "team", url: server.url, interval: "1s", timeout: "2s" }, IN);
    await applied(app, "team", repository.head);
    await app.app.settled();
    const faults = {
      AuthenticationFailed: { status: 403 },
      GitOperationFailed: { hang: true as const },
    };
    for (const [reason, fault] of Object.entries(faults)) {
      server.setFault(() => fault);
      await app.client.reconcile("team", IN);
      const failed = await repositoryThat(`says ${reason}`, app, "team", (item) => reasonOf(item) === reason);
      expect(failed).toMatchObject({ ready: false, last_applied_revision: `main@sha1:${repository.head}` });
      expect(await app.call("one")).toEqual({ status: 200, body: "old" });
    }
    server.setFault(undefined);
    const next = await repository.commit("next", { "functions/one/handler.py": answering("next") });
    await app.client.reconcile("team", IN);
    await applied(app, "team", next);
  });

  it("that is private is read once its secret is there", async () => {
    const auth = { username: "ada", password: "first" };
    const { repository, server } = await remote(idle("one"), auth);
    const app = await startApp();
    const made = { name: "team", url: server.url, secret_ref: { name: "git" }, interval: "1h" };
    await app.client.create("repositories", made, IN);
    await repositoryThat("misses it", app, "team", (item) => reasonOf(item) === "AuthenticationFailed");
    await app.client.writeSecret("git", auth, { ...IN, replace: true });
    await applied(app, "team", repository.head);
    const shown = JSON.stringify([app.events, await app.client.getObject("repositories", "team", IN)]);
    expect(shown).not.toContain(auth.password);
  });
});

describe("a repository that a client made", () => {
  it("is followed beside others of its namespace, each with what is its own", async () => {
    const [a, b, c] = [await remote(idle("one")), await remote(idle("two")), await remote(idle("one", "three"))];
    const app = await startApp();
    for (const [name, { server }] of Object.entries({ a, b })) {
      await app.client.create("repositories", { name, url: server.url }, IN);
    }
    await Promise.all([applied(app, "a", a.repository.head), applied(app, "b", b.repository.head)]);
    await app.client.create("repositories", { name: "c", url: c.server.url }, IN);
    const clash = await repositoryThat("tells the clash", app, "c", (item) => reasonOf(item) === "BuildFailed");
    expect(clash.message).toContain("belongs to another repository (a)");
    expect(await names(app)).toEqual(["one", "three", "two"]);
    await a.repository.commit("give it away", { "functions/one": null });
    await app.client.reconcile("a", IN);
    await applied(app, "c", c.repository.head);
  });

  it("fetches nothing while it is suspended", async () => {
    const { repository, server } = await remote(idle("one"));
    const beside = await remote(idle("beside"));
    const app = await startApp();
    await app.client.create("repositories", { name: "team", url: server.url, interval: "1s" }, IN);
    await app.client.create("repositories", { name: "beside", url: beside.server.url, interval: "1s" }, IN);
    await applied(app, "team", repository.head);
    await app.client.patch("repositories", "team", { suspend: true }, IN);
    await repositoryThat("rests", app, "team", (item) => reasonOf(item) === "Suspended");
    server.requests();
    const next = await repository.commit("next", idle("two"));
    // Intervals pass meanwhile.
    for (const what of ["one change", "another"])
      await applied(app, "beside", await beside.repository.commit(what, { [what]: what }));
    expect(server.requests()).toEqual([]);
    await app.client.patch("repositories", "team", { suspend: false }, IN);
    await applied(app, "team", next);
  });

  it.each([
    ["Orphan", ["one"]],
    ["Delete", []],
  ])("that is deleted with the policy %s leaves %j, and no mirror", async (policy, left) => {
    const { repository, server } = await remote(idle("one"));
    const app = await startApp();
    await app.client.create("repositories", { name: "team", url: server.url, deletion_policy: policy }, IN);
    await applied(app, "team", repository.head);
    expect(await readdir(join(app.data, "mirrors"))).toHaveLength(1);
    await app.client.delete("repositories", "team", IN);
    await eventually(
      "its functions are looked after",
      () => names(app),
      (found) => JSON.stringify(found) === JSON.stringify(left),
    );
    await eventually(
      "the mirror is gone",
      () => readdir(join(app.data, "mirrors")),
      (mirrors) => mirrors.length === 0,
    );
    expect(await app.client.list("repositories", IN)).toHaveLength(1);
  });

  it("takes what is at another address or ref when it is turned there", async () => {
    const { repository, server } = await remote(idle("one"));
    const other = await remote(idle("two"));
    const app = await startApp();
    await app.client.create("repositories", { name: "team", url: server.url, ref: { semver: "1.x" } }, IN);
    await repositoryThat("waits for a tag", app, "team", (item) => item.message?.includes("range 1.x") ?? false);
    await repository.git("tag", "v1.0.0");
    await app.client.reconcile("team", IN);
    const tagged = await repositoryThat("has the tag", app, "team", (item) => item.ready);
    expect(tagged.last_applied_revision).toBe(`v1.0.0@sha1:${repository.head}`);
    const body = { url: other.server.url, ref: { branch: "main" }, deletion_guard: { max_deletions: 100 } };
    await app.client.replace("repositories", "team", body, IN);
    await applied(app, "team", other.repository.head);
    // What is deleted goes once all that was made for it is gone.
    await eventually(
      "only what is there is left",
      () => names(app),
      (found) => JSON.stringify(found) === '["two"]',
    );
  });
});

it("addresses that are none of a remote repository, or not to be reached, are refused", async () => {
  const app = await startApp();
  for (const url of [
    "/srv/repository.git",
    "file:///srv/repository.git",
    "ssh://git@example.com/a.git",
    "git@example.com:a.git",
    "https://ada:hunter2@example.com/a.git",
    "http://[::1]:80/a.git",
    "http://169.254.169.254/a.git",
    "http://10.0.0.1/a.git",
  ]) {
    const error = await app.client.create("repositories", { name: "team", url }, IN).catch((thrown) => thrown);
    expect(error, url).toMatchObject({ status: 400, details: [{ field: "url" }] });
    expect(error.message).not.toContain("hunter2");
  }
  const range = { name: "team", url: "https://example.com/a.git", ref: { semver: "the newest" } };
  await expect(app.client.create("repositories", range, IN)).rejects.toMatchObject({
    status: 400,
    details: [{ field: "ref/semver" }],
  });
  expect(await app.client.list("repositories", IN)).toHaveLength(1);
});
