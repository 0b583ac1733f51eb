import { expect, it } from "vitest";
import { createClient } from "../../src/server/client.ts";
import { answering, pythonFunction, startTestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitHttpServer } from "../support/git-http-server.ts";
import { gitRepository, runGit } from "../support/git-repository.ts";
import { testCli } from "../support/test-cli.ts";

const CODE = "functions/one/handler.py";

/** A server that follows nothing of ours yet, a repository behind HTTP, and a command line. */
async function start() {
  const app = await startTestApp(await gitRepository({ "README.md": "nothing of ours" }), {
    env: { SLESS_GIT_NETWORKS: "127.0.0.0/8" },
  });
  const repository = await gitRepository(pythonFunction("one", answering("main")), { bare: true });
  const server = await gitHttpServer(repository.dir);
  const sless = (...argv: string[]) =>
    testCli([...argv, "--endpoint", app.app.url], { deps: { createClient }, env: { NO_COLOR: "1" } });
  const answers = async (body: string) => {
    await app.app.settled();
    expect(await app.call("one")).toEqual({ status: 200, body });
  };
  return { app, repository, server, sless, answers };
}

it("a repository is created, changed, suspended, resumed and deleted with its objects", async () => {
  const { app, repository, server, sless, answers } = await start();
  const flags = ["--url", server.url, "--branch", "main", "--interval", "1s", "--max-deletions", "5"];
  const created = await sless("create", "repository", "team", ...flags, "--wait");
  expect(created).toMatchObject({ code: 0, stderr: "" });
  expect(created.stdout).toContain(`repository/team created\nteam  main@sha1:${repository.head.slice(0, 7)}  ready\n`);
  await answers("main");

  await runGit(repository.work, "switch", "--quiet", "--create", "next");
  await repository.commit("next", { [CODE]: answering("next") });
  const changed = await sless("set", "repository", "team", "--branch", "next", "--wait");
  expect(changed).toMatchObject({ code: 0, stdout: expect.stringContaining("repository/team changed: ref\n") });
  await answers("next");

  expect((await sless("suspend", "repository", "team")).code).toBe(0);
  await app.app.settled();
  server.requests();
  await repository.commit("later", { [CODE]: answering("later") });
  const waited = await sless("set", "repository", "team", "--max-deletions", "", "--wait");
  expect(waited).toMatchObject({ code: 2, stdout: "repository/team changed: deletion_guard\n" });
  expect(waited.stderr).toContain("Repository team is suspended");
  await answers("next");
  expect(server.requests()).toEqual([]);

  expect((await sless("resume", "repository", "team")).code).toBe(0);
  await eventually(
    "what was pushed meanwhile answers",
    () => app.call("one"),
    ({ body }) => body === "later",
  );

  const policy = await sless("set", "repository", "team", "--deletion-policy", "Delete");
  expect(policy.stdout).toBe("repository/team changed: deletion_policy\n");
  const deleted = await sless("delete", "repository", "team");
  expect(deleted.stdout).toBe("repository/team deleted; its 2 objects are deleted too (deletionPolicy Delete)\n");
  await eventually(
    "its objects are gone",
    () => sless("get", "functions", "-o", "name"),
    ({ stdout }) => stdout === "",
  );
  expect((await sless("get", "triggers", "-o", "name")).stdout).toBe("");
});

it("what the server does not take is exit code 2 with the field, and what it cannot fetch is 1", async () => {
  const { server, sless } = await start();
  const refused = await sless("create", "repository", "team", "--url", "ssh://git@example.com/a.git");
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("url");
  const unknown = await sless("set", "repository", "team", "--branch", "next");
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("Repository default/team does not exist") });
  const absent = await sless("create", "repository", "team", "--url", server.url, "--branch", "none", "--wait");
  expect(absent.code).toBe(1);
  expect(absent.stdout).toContain("none does not exist");
  const twice = await sless("create", "repository", "team", "--url", server.url);
  expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining("exists already") });
});
