import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { generatedFiles } from "../../scripts/generated-files.ts";

const root = join(import.meta.dirname, "../..");

it.each(Object.entries(generatedFiles()))("%s is what `npm run generate` writes", async (path, text) => {
  expect(await readFile(join(root, path), "utf8")).toBe(text);
});

it.each(["schemas", "crds"])("%s/ holds nothing that is not generated", async (folder) => {
  const present = (await readdir(join(root, folder))).map((name) => `${folder}/${name}`);
  expect(present.filter((path) => !Object.hasOwn(generatedFiles(), path))).toEqual([]);
});
