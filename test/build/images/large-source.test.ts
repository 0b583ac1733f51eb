import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { requestOf, untilBuilt, untilFailed } from "../../contract/builder.ts";
import { eventually } from "../../support/eventually.ts";
import { readImage } from "../../support/image-files.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { openImageBuilder } from "../../support/open-image-builder.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";
import { mountSmallDisk } from "../../support/small-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describeWithServers("the image of a large source", () => {
  let server: RegistryServer;
  beforeAll(async () => {
    server = await openRegistryServer();
  });
  afterAll(() => server?.close());

  /** What a build has needed goes once its end is told. */
  const untilTidy = (folder: string) =>
    eventually(
      "nothing is left",
      () => readdir(join(folder, "tmp")),
      (names) => names.length === 0,
    );
  const large = () => ({ "handler.txt": "large", data: randomBytes(1_500_000).toString("hex") });

  it("holds all of it, and leaves nothing on the disk", async () => {
    const folder = await temporaryFolder();
    const test = await openImageBuilder(server.host, { folder });
    const source = large();
    const { imageRef } = await untilBuilt(test, await requestOf(test, source));
    const { files } = await readImage(test.registry, imageRef);
    expect(files["sless/image/source/data"]!.text === source.data).toBe(true);
    await untilTidy(folder);
  });

  it("is told not to fit on a disk that is full, and is made once there is room", async (context) => {
    const folder = join(await temporaryFolder(), "disk");
    await mkdir(folder);
    if (!mountSmallDisk(folder)) return context.skip("needs the right to mount a tmpfs");
    const clock = manualClock();
    const test = await openImageBuilder(server.host, { folder, clock });
    const small = await untilBuilt(test, await requestOf(test, { "handler.txt": "small" }));
    const request = await requestOf(test, large());
    const failed = await untilFailed(test, request);
    expect(failed.reason).toBe("StorageUnavailable");
    expect(failed.message).toContain(request.sourceKey);
    expect(failed.message).toContain("ENOSPC");
    expect(await test.builder.has(small.imageRef)).toBe(true);
    await untilTidy(folder);
    await promisify(execFile)("mount", ["-o", "remount,size=32m", folder]);
    clock.advance(10_000);
    await untilBuilt(test, request);
  });
});
