import { statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../src/source/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

it("makes a folder with those above it, and leaves one that is there", async () => {
  const path = join(await temporaryFolder(), "a", "b", "c");
  makeFolder(path, 0o700);
  makeFolder(path, 0o755);
  expect([path, join(path, "..")].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
});

it("says of a folder that cannot be made why, and does not try for ever", async () => {
  const root = await temporaryFolder();
  writeFileSync(join(root, "file"), "");
  symlinkSync("nowhere", join(root, "link"));
  symlinkSync("self", join(root, "self"));
  expect(() => makeFolder(join(root, "file"))).toThrow("EEXIST");
  expect(() => makeFolder(join(root, "file", "below", "it"))).toThrow("ENOTDIR");
  expect(() => makeFolder(join(root, "link"))).toThrow("EEXIST");
  expect(() => makeFolder(join(root, "link", "below"))).toThrow("EEXIST");
  expect(() => makeFolder(join(root, "self", "below"))).toThrow("ELOOP");
  if (process.platform === "linux") expect(() => makeFolder("/proc/x/y")).toThrow("ENOENT");
});
