import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { openUploadFolder } from "../../src/server/index.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function* body(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("half");
  throw new SlessError("invalid_request", { cause: "its body broke off" });
}

it("an upload is a file of its own while it is used, and gone afterwards", async () => {
  const folder = join(await temporaryFolder(), "uploads");
  const uploads = await openUploadFolder(folder);
  const texts = await Promise.all(
    ["one", "two"].map((text) => uploads.withFile(body(text, "!"), (path) => readFile(path, "utf8"))),
  );
  expect(texts).toEqual(["one!", "two!"]);
  expect(await readdir(folder)).toEqual([]);
  expect((await stat(folder)).mode & 0o077).toBe(0);
});

it("an upload is gone when it breaks off, and when it is refused", async () => {
  const folder = join(await temporaryFolder(), "uploads");
  const uploads = await openUploadFolder(folder);
  await expect(uploads.withFile(failing(), async () => 1)).rejects.toMatchObject({ code: "invalid_request" });
  const refuse = () => Promise.reject(new SlessError("archive_invalid", { cause: "x" }));
  await expect(uploads.withFile(body("x"), refuse)).rejects.toMatchObject({ code: "archive_invalid" });
  expect(await readdir(folder)).toEqual([]);
});

it("what a killed process left is removed at the next start", async () => {
  const folder = join(await temporaryFolder(), "uploads");
  await mkdir(folder);
  await writeFile(join(folder, "left"), "over");
  await openUploadFolder(folder);
  expect(await readdir(folder)).toEqual([]);
});

it("a full disk is told as such, and has its room back", async (context) => {
  const disk = await temporaryFolder();
  if (!mountSmallDisk(disk)) return context.skip("no small disk can be mounted here");
  const uploads = await openUploadFolder(join(disk, "uploads"));
  const large = () => body(...Array.from({ length: 3 }, () => "x".repeat(1 << 20)));
  await expect(uploads.withFile(large(), async () => 1)).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(await uploads.withFile(body("x"), (path) => readFile(path, "utf8"))).toBe("x");
});
