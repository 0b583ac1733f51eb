import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openUploadFolder } from "../../src/server/index.ts";
import { openArchive } from "../../src/source/index.ts";
import { openFilesystemStore } from "../../src/storage/filesystem/index.ts";
import { eventually } from "../support/eventually.ts";
import { handler } from "../support/function-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { functionIntent, serverFixture } from "./server-fixture.ts";

const LARGE_MIB = 49;
const NAMES = ["one", "two", "three", "four"];

/** A zip of noise, which does not compress. Another process makes it too: here it would be in the peak. */
async function largeZip(folder: string): Promise<string> {
  const path = join(folder, "large.zip");
  const script = `
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("handler.py", sys.argv[2])
    archive.writestr("model.bin", os.urandom(${LARGE_MIB} << 20))
`;
  await promisify(execFile)("python3", ["-c", script, path, handler()]);
  return path;
}

/** The most that this process ever took, in MiB. */
const peakMiB = () => process.resourceUsage().maxRSS / 1024;

/** Another process, so that what the client takes is not counted: sends a file to URLs, prints the answers as JSON. */
const CLIENT = `
const [path, ...urls] = process.argv.slice(1);
const { openAsBlob } = await import("node:fs");
const zip = await openAsBlob(path);
const form = new FormData();
form.set("file", zip, "large.zip");
const answers = urls.map(async (url, index) => {
  const response = await fetch(url, { method: "POST", body: index % 2 ? form : zip });
  return { status: response.status, key: (await response.json()).s3_key };
});
console.log(JSON.stringify(await Promise.all(answers)));
`;

async function uploadAll(path: string, urls: string[]): Promise<{ status: number; key: string }[]> {
  const args = ["--input-type=module", "-e", CLIENT, path, ...urls];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

it("four uploads of 50 MiB at once, bodies and files of forms, are not in memory together", async () => {
  const folder = await temporaryFolder();
  const path = await largeZip(folder);
  const objects = await openFilesystemStore(join(folder, "data"));
  const uploads = await openUploadFolder(join(folder, "uploads"));
  const { url, store } = await serverFixture({ objects, uploads });
  for (const name of NAMES) await store.create(functionIntent(name), { owner: "api" });
  const before = peakMiB();
  const answers = await uploadAll(
    path,
    NAMES.map((name) => `${url}/v1/namespaces/default/functions/${name}/upload`),
  );
  const grown = peakMiB() - before;
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  // What went through waits for the garbage collector; holding the archives and what is in them takes 400 and more.
  expect(grown).toBeLessThan(5 * LARGE_MIB);
  await eventually(
    "no upload is left",
    () => readdir(join(folder, "uploads")),
    (names) => names.length === 0,
  );
  const kept = await openArchive(join(folder, "data/objects", answers[3]!.key));
  const sent = await openArchive(path);
  const ids = ({ files }: typeof sent) => files.map(({ path: of, id }) => `${of} ${id}`).sort();
  expect(ids(kept)).toEqual(ids(sent));
  await Promise.all([sent.close(), kept.close()]);
});
