/**
 * Writes what is made from the sources: `schemas/`, `crds/`, `docs/errors.md`, `docs/repository-format.md`.
 * With `--check` nothing is written; stale files are named and the exit code is 1.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generatedFiles } from "./generated-files.ts";

const root = join(import.meta.dirname, "..");
const check = process.argv.includes("--check");
let stale = 0;

for (const [path, text] of Object.entries(generatedFiles())) {
  const present = await readFile(join(root, path), "utf8").catch(() => undefined);
  if (present === text) continue;
  stale += 1;
  if (check) {
    console.error(`${path} is stale; run \`npm run generate\``);
  } else {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    console.log(`wrote ${path}`);
  }
}
process.exitCode = check && stale > 0 ? 1 : 0;
