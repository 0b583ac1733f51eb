import { randomBytes } from "node:crypto";
import { expect, it, type TestContext } from "vitest";
import { answering, callFunction, pythonFunction, startTestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";
import { fillDisk, mountSmallDisk } from "../support/small-disk.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const DISK_MB = 32;

/** A data folder on a small disk of its own; skips the test, and says why, where that cannot be had. */
async function smallData(context: TestContext): Promise<string> {
  const data = await temporaryFolder();
  if (!mountSmallDisk(data, DISK_MB)) {
    if (process.env.CI === "true") throw new Error("CI must run this test with the right to mount a tmpfs");
    context.skip("needs the right to mount a tmpfs");
  }
  return data;
}

it("on a full disk the old version answers and the condition says why; with space again the new one comes", async (context) => {
  const data = await smallData(context);
  const repository = await gitRepository(pythonFunction("one", answering("old")));
  const { app, call, client, readyReason } = await startTestApp(repository, { data });
  await app.settled();

  const free = await fillDisk(data);
  // More than what sless lays aside, so that the archive cannot be stored.
  const big = { "functions/one/data.bin": randomBytes(8 << 20) };
  await repository.commit("new", { "functions/one/handler.py": answering("new"), ...big });
  const message = await readyReason("ArtifactFailed");
  expect(message).toMatch(/cannot be written.*no space left.*Check the disk's space/is);
  expect(await call("one")).toEqual({ status: 200, body: "old" });

  await free();
  await client.reconcile("test", { namespace: "default" });
  const url = `${app.url}/fn/default/one`;
  await eventually(
    "the new version answers",
    () => callFunction(url),
    ({ body }) => body === "new",
  );
  await readyReason("ReconciliationSucceeded");
});
