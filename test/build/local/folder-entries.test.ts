import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { entriesOfFolder } from "../../../src/build/local/folder-entries.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function installed(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "package"));
  await writeFile(join(folder, "package/index.js"), "12345");
  await symlink("/etc/passwd", join(folder, "link"));
  return folder;
}

it("what a command left becomes entries, links as they are", async () => {
  const entries = await entriesOfFolder(await installed(), "sless/image/deps/");
  expect(entries.map((entry) => [entry.path, "target" in entry ? entry.target : ""]).sort()).toEqual([
    ["sless/image/deps/link", "/etc/passwd"],
    ["sless/image/deps/package", ""],
    ["sless/image/deps/package/index.js", ""],
  ]);
});

it.each([
  ["bytes", { bytes: 4, entries: 3 }, "4 bytes"],
  ["files", { bytes: 5, entries: 2 }, "2 files"],
])("a command that leaves more %s than a layer may have is told so", async (_what, limits, limit) => {
  const folder = await installed();
  await expect(entriesOfFolder(folder, "", limits)).rejects.toMatchObject({ code: "too_large", details: { limit } });
  await entriesOfFolder(folder, "", { bytes: 5, entries: 3 });
});
