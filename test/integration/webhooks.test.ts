import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { github } from "../hooks/sign.ts";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitHttpServer } from "../support/git-http-server.ts";
import { gitRepository } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const IN = { namespace: "default" };
const TOKEN = "s3cr3t-of-the-forge";

async function followed(name = "team") {
  const repository = await gitRepository(pythonFunction("one", answering("old")), { bare: true });
  const server = await gitHttpServer(repository.dir);
  const app = await startTestApp(await gitRepository({ "README.md": "nothing of ours" }), {
    env: { SLESS_GIT_NETWORKS: "127.0.0.0/8" },
  });
  await app.client.writeSecret("hook", { token: TOKEN }, { ...IN, replace: true });
  const spec = { url: server.url, ref: { branch: "main" }, interval: "24h", webhook_secret_ref: { name: "hook" } };
  await app.client.create("repositories", { name, ...spec }, IN);
  await applied(app, name, repository.head);
  return { app, repository, server };
}

const applied = (app: TestApp, name: string, commit: string) =>
  eventually(
    `${name} has ${commit}`,
    () => app.client.get("repositories", name, IN),
    (item) => item.last_applied_revision === `main@sha1:${commit}`,
  );

async function deliver(app: TestApp, name: string, payload: unknown, token = TOKEN) {
  const body = JSON.stringify(payload);
  const headers = { "content-type": "application/json", "x-github-event": "push", ...github(token, body) };
  const answer = await fetch(`${app.app.url}/hooks/default/${name}`, { method: "POST", headers, body });
  return { status: answer.status, body: (await answer.json()) as { sync?: string; reason?: string } };
}

it("a push that the forge tells of is live, however long the interval is", async () => {
  const { app, repository } = await followed();
  expect(await app.client.get("repositories", "team", IN)).toMatchObject({
    webhook_secret_ref: { name: "hook" },
    webhook_path: "/hooks/default/team",
  });
  const after = await repository.commit("new", { "functions/one/handler.py": answering("new") });
  expect(await deliver(app, "team", { ref: "refs/heads/main", after })).toMatchObject({ status: 202 });
  await applied(app, "team", after);
  await eventually(
    "the new code answers",
    () => app.call("one"),
    ({ body }) => body === "new",
  );
});

it("what is not signed, or is not about the branch, does not make sless ask the Git server", async () => {
  const { app, server } = await followed();
  await app.app.settled();
  server.requests();
  const answers = [
    await deliver(app, "team", { ref: "refs/heads/main" }, "wrong"),
    await deliver(app, "team", { ref: "refs/heads/other" }),
    await deliver(app, "nowhere", { ref: "refs/heads/main" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 200, 401]);
  await app.app.settled();
  expect(server.requests()).toEqual([]);
});

it("a suspended repository takes deliveries and rests; resumed, it is followed again", async () => {
  const { app, repository, server } = await followed();
  await app.client.patch("repositories", "team", { suspend: true }, IN);
  await app.app.settled();
  server.requests();
  const after = await repository.commit("new", { "functions/one/handler.py": answering("new") });
  // What was read of it counts for a second.
  const answer = await eventually(
    "the delivery says so",
    () => deliver(app, "team", { ref: "refs/heads/main", after }),
    ({ body }) => body.reason === "the repository is suspended",
  );
  expect(answer.status).toBe(200);
  await app.app.settled();
  expect(server.requests()).toEqual([]);
  await app.client.patch("repositories", "team", { suspend: false }, IN);
  await applied(app, "team", after);
});

it("the repository that the server was started with has a webhook, too, and keeps it", async () => {
  const data = join(await temporaryFolder(), "data");
  const repository = await gitRepository(pythonFunction("one", answering("old")));
  const first = await startTestApp(repository, { data });
  await first.client.writeSecret("hook", { token: TOKEN }, { ...IN, replace: true });
  await first.client.patch("repositories", "test", { webhook_secret_ref: { name: "hook" } }, IN);
  expect((await deliver(first, "test", { ref: "refs/heads/main" })).status).toBe(202);
  await first.app.close();
  const second = await startTestApp(repository, { data });
  expect((await deliver(second, "test", { ref: "refs/heads/main" })).status).toBe(202);
});

it("without a webhook secret there is no webhook, and none any more when it is taken away", async () => {
  const { app } = await followed();
  const answer = () => deliver(app, "team", { ref: "refs/heads/other" });
  expect((await answer()).status).toBe(200);
  await app.client.patch("repositories", "team", { webhook_secret_ref: null }, IN);
  await eventually("it is gone", answer, ({ status }) => status === 401);
  const shown = await eventually(
    "the status does not show it",
    () => app.client.getObject("repositories", "team", IN),
    ({ status }) => !("webhookPath" in (status ?? {})),
  );
  expect(JSON.stringify(shown)).not.toContain("/hooks/");
});

it("a webhook whose secret is missing is told in the status, until it is written", async () => {
  const { app } = await followed();
  const webhook = (status: "True" | "False") =>
    eventually(
      `WebhookReady is ${status}`,
      () => app.client.get("repositories", "team", IN),
      ({ conditions }) => conditions.some((one) => one.type === "WebhookReady" && one.status === status),
    );
  await webhook("True");
  await app.client.patch("repositories", "team", { webhook_secret_ref: { name: "other" } }, IN);
  expect(await webhook("False")).toMatchObject({ ready: true });
  await app.client.writeSecret("other", { token: TOKEN }, { ...IN, replace: true });
  await webhook("True");
});

it("the commands of docs/webhooks.md make a delivery that counts", async () => {
  const { app, repository } = await followed("team");
  const page = await readFile(join(import.meta.dirname, "../../docs/webhooks.md"), "utf8");
  const script = /```sh\n(# what was pushed.*?)```/s.exec(page)?.[1] ?? "";
  expect(script).toContain("openssl dgst -sha256 -hmac");
  const folder = await temporaryFolder();
  await writeFile(join(folder, "token"), `${TOKEN}\n`);
  const after = await repository.commit("new", { "functions/one/handler.py": answering("new") });
  const env = { PATH: process.env.PATH, SLESS: app.app.url };
  const run = (text: string) => promisify(execFile)("sh", ["-euc", text], { cwd: folder, env });
  const other = script.replace("refs/heads/main", "refs/heads/other");
  expect(JSON.parse((await run(other)).stdout)).toMatchObject({ sync: "none" });
  expect(JSON.parse((await run(script)).stdout)).toEqual({ sync: "requested" });
  await applied(app, "team", after);
});
