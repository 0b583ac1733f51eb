import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { openTestStores, type TestStores } from "../support/stores.ts";

const hello = (value: unknown) => pythonFunction("hello", answering(value));

function answers(app: TestApp, name: string, value: unknown) {
  return eventually(
    `${name} answers`,
    () => app.call(name),
    ({ body }) => body === value,
  );
}

const failures = ({ events }: TestApp) => events.filter(({ step }) => step === "failed");

describeWithServers("sources that are not where they were", () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await openTestStores();
  });
  afterAll(() => stores?.close());

  it("whoever goes over to S3 and a registry, or back, sees no function fail, changed or not", async () => {
    const repository = await gitRepository({ ...hello(0), ...pythonFunction("other", answering("same")) });
    let data: string | undefined;
    for (const [text, places] of [
      [1, {}],
      [2, await stores.variables()],
      [3, {}],
    ] as const) {
      const commit = await repository.commit(String(text), hello(text));
      const app = await startTestApp(repository, { ...(data ? { data } : {}), stores: places });
      data = app.data;
      await app.synced(commit);
      await answers(app, "hello", text);
      await answers(app, "other", "same");
      expect(failures(app)).toEqual([]);
      await app.app.close();
    }
  });

  it("an archive that was damaged where it lies is stored anew from the repository, which is told", async () => {
    const repository = await gitRepository(hello("whole"));
    const first = await startTestApp(repository);
    await first.synced(repository.head);
    await first.app.close();
    const folder = join(first.data, "objects/objects/functions/default/hello");
    const [name = ""] = await readdir(folder);
    const archive = await readFile(join(folder, name));
    await writeFile(join(folder, name), archive.subarray(0, 60));
    // What was built of it is gone as well.
    await rm(join(first.data, "builds"), { recursive: true });
    const second = await startTestApp(repository, { data: first.data });
    await answers(second, "hello", "whole");
    expect(Buffer.compare(await readFile(join(folder, name)), archive)).toBe(0);
    expect(failures(second)).toMatchObject([{ reason: "SourceUnavailable" }]);
    expect(second.events).toContainEqual(expect.objectContaining({ step: "stored", instead: "damaged" }));
  });
});
