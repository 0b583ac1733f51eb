import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { ObjectOf } from "../../../src/apis/index.ts";
import { openEmbeddedStore } from "../../../src/resources/embedded/index.ts";
import { functionIntent } from "../../support/function-intent.ts";
import { fillDisk, mountSmallDisk } from "../../support/small-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const owner = { owner: "sync" } as const;
const DISK_MB = 24;

it("a full disk still takes small writes, and the space for them is laid aside anew when there is room", async ({
  skip,
}) => {
  const folder = await temporaryFolder();
  if (!mountSmallDisk(folder, DISK_MB)) return skip("needs the right to mount a tmpfs");
  const file = join(folder, "resources.db");
  const store = await openEmbeddedStore(file);
  onTestFinished(() => store.close());
  const created = await store.create(functionIntent("demo", "hello"), owner);
  expect(existsSync(`${file}-reserve`)).toBe(true);

  const free = await fillDisk(folder);
  const write = (object: ObjectOf<"Function">, message: string) => store.updateStatus<"Function">(object, { message });
  const told = await write(created, "the disk is full");
  expect(told.status?.message).toBe("the disk is full");
  expect(existsSync(`${file}-reserve`)).toBe(false);

  // What the reserve gave back is filled up too: now there is nothing left to give.
  const freeAll = await fillDisk(folder, "more");
  let last = told;
  const refused = async () => {
    for (let n = 0; n < 2_000; n++) last = await write(last, String(n).repeat(500));
  };
  await expect(refused()).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(await store.get("Function", last.metadata)).toEqual(last);

  await free();
  await freeAll();
  await write(last, "there is room");
  expect(existsSync(`${file}-reserve`)).toBe(true);
});

it("a disk that is too small for it goes without", async ({ skip }) => {
  const folder = await temporaryFolder();
  if (!mountSmallDisk(folder)) return skip("needs the right to mount a tmpfs");
  const file = join(folder, "resources.db");
  const store = await openEmbeddedStore(file);
  onTestFinished(() => store.close());
  await store.create(functionIntent("demo", "hello"), owner);
  expect(existsSync(`${file}-reserve`)).toBe(false);
});
