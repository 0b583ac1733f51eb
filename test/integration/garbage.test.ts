import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createClient } from "../../src/server/client.ts";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";
import { testCli } from "../support/test-cli.ts";

/** A grace time that ends while a test looks. */
const env = { GARBAGE_GRACE: "1s" };
const hello = (value: unknown) => pythonFunction("hello", answering(value));

const imagesOf = ({ data }: TestApp) => readdir(join(data, "builds", "images"));
const archivesOf = ({ data }: TestApp, name: string) =>
  readdir(join(data, "objects", "objects", "functions", "default", name)).catch(() => []);

/** Collects until the grace time of everything is over. */
async function collectAll(app: TestApp): Promise<void> {
  await app.client.collectGarbage({ dryRun: false });
  const waiting = async () => (await app.client.collectGarbage({ dryRun: true })).waiting.count;
  await eventually("the grace time of all is over", waiting, (count) => count === 0);
  await app.client.collectGarbage({ dryRun: false });
}

it("what a deleted function left goes after the grace time, and what others have stays", async () => {
  const repository = await gitRepository({ ...hello(1), ...pythonFunction("other", answering(2)) });
  const app = await startTestApp(repository, { env });
  await app.synced(repository.head);
  const gone = Object.fromEntries(Object.keys(hello(1)).map((path) => [path, null]));
  await app.synced(await repository.commit("without hello", gone));
  expect(await archivesOf(app, "hello")).toHaveLength(1);

  const first = await testCli(["gc", "--endpoint", app.app.url], { deps: { createClient } });
  expect(first.stdout).toMatch(/0 removed \(0 B\), 2 in the grace time \(.*\), 2 in use\./);
  await collectAll(app);
  expect(await archivesOf(app, "hello")).toEqual([]);
  expect(await archivesOf(app, "other")).toHaveLength(1);
  expect(await imagesOf(app)).toHaveLength(1);
  expect((await app.call("other")).body).toBe(2);

  // It comes back as if it had never been there.
  await app.synced(await repository.commit("with hello", hello(1)));
  expect((await app.call("hello")).body).toBe(1);
});

it("sources and images of the last ten revisions stay, so that each can be gone back to without a build", async () => {
  const repository = await gitRepository(hello(0));
  const app = await startTestApp(repository, { env });
  await app.synced(repository.head);
  for (let value = 1; value <= 11; value++) await app.synced(await repository.commit(`${value}`, hello(value)));
  const { status } = await app.object<"Function">("functions", "hello");
  expect(status!.history!.map(({ number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  expect(await archivesOf(app, "hello")).toHaveLength(12);
  await collectAll(app);
  expect(await archivesOf(app, "hello")).toHaveLength(10);
  expect(await imagesOf(app)).toHaveLength(10);
  const kept = await app.client.history("functions", "hello", { namespace: "default" });
  expect(kept.every((one) => one.source_present && one.image_present)).toBe(true);
  app.events.length = 0;
  await app.synced(await repository.commit("back to 2", hello(2)));
  expect(app.events.filter(({ step }) => step === "built")).toMatchObject([{ reused: true }]);
});
