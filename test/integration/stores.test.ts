import { afterAll, beforeAll, expect, it } from "vitest";
import { answering, pythonFunction, startTestApp } from "../support/embedded.ts";
import { gitRepository } from "../support/git-repository.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { openTestStores, type TestStores } from "../support/stores.ts";

describeWithServers("a machine with S3 and a registry", () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await openTestStores();
  }, 600_000);
  afterAll(() => stores?.close());

  it("a push goes through the bucket and the registry to an answer", async () => {
    const repository = await gitRepository(pythonFunction("hello", answering(1)));
    const app = await startTestApp(repository, { stores: await stores.variables() });
    await app.synced(repository.head);
    expect((await app.call("hello")).body).toBe(1);
  });
});
