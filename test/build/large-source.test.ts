import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sourceDigest, storedFile } from "../../src/source/index.ts";
import { openFilesystemStore } from "../../src/storage/filesystem/index.ts";
import { openS3Store } from "../../src/storage/s3/index.ts";
import { forgedZip } from "../support/forged-zip.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { openS3Server, type S3Server } from "../support/s3-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MIB = 1024 * 1024;
const SCRIPT = fileURLToPath(new URL("read-large-source.ts", import.meta.url));
/** In memory it would take the archive and what is in it, 200 MB; buffers wait for a while until they are collected. */
const GROWN_MAX_MB = 160;

/** The archive, which compresses nothing, is as large as what is in it; a layer of it is soon made. */
function largeSource(): { zip: Uint8Array; digest: string; files: number } {
  const block = Buffer.alloc(4 * MIB, "sless ");
  const huge = Buffer.concat(Array.from({ length: 12 }, () => block));
  const contents = [huge, ...Array.from({ length: 12 }, () => block)];
  const entries = contents.map((content, index) => ({ name: `f${index}`, content, method: 0 as const }));
  const digest = sourceDigest(entries.map(({ name, content }) => storedFile({ path: name, mode: "100644", content })));
  return { zip: forgedZip(entries), digest, files: entries.length };
}

describeWithServers("a source of 96 MiB", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await openS3Server();
  });
  afterAll(() => server?.close());

  it("is read from S3 and from a folder, into a folder and into a layer, with a part of it in memory", async () => {
    const { zip, digest, files } = largeSource();
    const sourceKey = `functions/demo/large/${digest}.zip`;
    const folder = await temporaryFolder();
    const bucket = { endpoint: server.endpoint, credentials: server.credentials, bucket: await server.makeBucket() };
    for (const store of [await openFilesystemStore(folder), await openS3Store(bucket)]) await store.put(sourceKey, zip);
    for (const [store, way] of [
      [{ folder }, "layer"],
      [bucket, "folder"],
    ] as const) {
      const asked = { store, way, folder: await temporaryFolder(), sourceKey, sourceDigest: digest };
      const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, JSON.stringify(asked)]);
      const told = JSON.parse(stdout);
      expect(told.files).toBe(files);
      expect(told.grownMB, way).toBeLessThan(GROWN_MAX_MB);
    }
  });
});
