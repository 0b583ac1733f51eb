import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { requestOf, untilBuilt, untilFailed } from "../../contract/builder.ts";
import { eventually } from "../../support/eventually.ts";
import { openLocalBuilder } from "../../support/open-local-builder.ts";
import { processesWith } from "../../support/process-tree.ts";
import { mountSmallDisk } from "../../support/small-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { watchChild } from "../../support/watched-child.ts";

/** An install that starts a grandchild whose command line holds `mark`, and hangs. */
function hangingInstall(mark: string) {
  return [
    { when: ["deps.txt"], command: ["sh", "-c", `(sleep 300; : ${mark}) & echo installing; sleep 300; : ${mark}`] },
  ];
}

const FILES = { "handler.txt": "x", "deps.txt": "a" };

describe("processes of builds", () => {
  it("an install that hangs is killed at the deadline, with what it started", async () => {
    const mark = `deadline-${randomUUID()}`;
    const test = await openLocalBuilder({ deadlineMs: 3_000, runtime: { install: hangingInstall(mark) } });
    const failed = await untilFailed(test, await requestOf(test, FILES));
    expect(failed).toMatchObject({ reason: "BuildTimedOut", message: expect.stringContaining("longer than 3 s") });
    expect(failed.message).toContain("installing");
    await untilGone(mark, test.folder);
  });

  it("cancelling the last who wants it kills the install, and leaves nothing", async () => {
    const mark = `cancel-${randomUUID()}`;
    const test = await openLocalBuilder({ runtime: { install: hangingInstall(mark) } });
    const request = await requestOf(test, FILES);
    await test.builder.ensure(request);
    await eventually(
      "it hangs",
      () => processesWith(mark),
      (pids) => pids.length === 2,
    );
    await test.builder.cancel(request.workload);
    await untilGone(mark, test.folder);
  });

  it("closing ends what is in flight, and nothing half made stays", async () => {
    const mark = `close-${randomUUID()}`;
    const test = await openLocalBuilder({ runtime: { install: hangingInstall(mark) } });
    const request = await requestOf(test, FILES);
    await test.builder.ensure(request);
    await eventually(
      "it hangs",
      () => processesWith(mark),
      (pids) => pids.length === 2,
    );
    await test.close();
    await untilGone(mark, test.folder);
    await expect(test.builder.ensure(request)).rejects.toMatchObject({ code: "internal" });
  });

  it("installs that hang do not keep a source without dependencies from being built", async () => {
    const test = await openLocalBuilder();
    for (const name of ["a", "b", "c"]) {
      await test.builder.ensure(await requestOf(test, { "handler.txt": name, "deps.txt": "hang", name }, { name }));
    }
    await untilBuilt(test, await requestOf(test, { "handler.txt": "x" }));
  });

  it.each([
    ["while it installs", "installing"],
    ["right after", "are installed"],
  ])("kill -9 %s: nothing runs on, nothing half made is taken, and the next start builds it", async (_, moment) => {
    const folder = await temporaryFolder();
    const files = { "handler.txt": "x", "deps.txt": "slow" };
    await killDuring(folder, files, moment);
    const builds = join(folder, "builds");
    await eventually(
      "no process lives",
      () => processesWith(builds),
      (pids) => pids.length === 0,
    );
    const test = await openLocalBuilder({ folder });
    const { imageRef } = await untilBuilt(test, await requestOf(test, files));
    const image = (await test.builder.resolveImage(imageRef))!;
    expect(await readdir(join(image.deps, "modules"))).toEqual(["installed"]);
    await untilGone(builds, folder);
  });

  it("a full disk fails the build with a reason, and the next try succeeds when there is space", async (context) => {
    const folder = await temporaryFolder();
    if (!mountSmallDisk(folder)) return context.skip("needs the right to mount a tmpfs");
    const test = await openLocalBuilder({ folder });
    const large = "0123456789abcdef".repeat(100_000);
    const failed = await untilFailed(test, await requestOf(test, { "handler.txt": large }));
    expect(failed).toMatchObject({ reason: "StorageUnavailable", message: expect.stringContaining("ENOSPC") });
    await untilBuilt(test, await requestOf(test, { "handler.txt": "small" }));
  });
});

/** No process of that mark lives, and builds have left nothing in their folder of drafts. */
async function untilGone(mark: string, folder: string): Promise<void> {
  await eventually(
    "no process lives",
    () => processesWith(mark),
    (pids) => pids.length === 0,
  );
  await eventually(
    "nothing is left",
    () => readdir(join(folder, "builds", "tmp")),
    (names) => names.length === 0,
  );
}

async function killDuring(folder: string, files: Record<string, string>, moment: string): Promise<void> {
  const script = fileURLToPath(new URL("build-parent.ts", import.meta.url));
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const parent = spawn(process.execPath, [script, folder, JSON.stringify(files)], { stdio: [...stdio] });
  const { exited, says } = watchChild(parent);
  await says(moment);
  parent.kill("SIGKILL");
  await exited();
}
