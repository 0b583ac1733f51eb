/**
 * Writes `deploy/manifests/`: the chart with its default values, for those who do not use helm. With `--check` nothing is
 * written; stale files are named and the exit code is 1. Helm comes from its pinned Go module.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { manifestFiles } from "./manifest-files.ts";

const folder = join(import.meta.dirname, "../deploy/manifests");
const check = process.argv.includes("--check");
let stale = 0;

await mkdir(folder, { recursive: true });
const wanted = await manifestFiles();
const names = new Set([...Object.keys(wanted), ...(await readdir(folder))]);
names.delete("crds.yaml");
for (const name of [...names].sort()) {
  const path = join(folder, name);
  const text = wanted[name];
  if (text === (await readFile(path, "utf8").catch(() => undefined))) continue;
  stale += 1;
  if (check) console.error(`deploy/manifests/${name} is stale; run \`npm run generate:manifests\``);
  else if (text === undefined) await rm(path);
  else await writeFile(path, text);
}
if (!check && stale > 0) console.log(`wrote ${stale} files of deploy/manifests`);
process.exitCode = check && stale > 0 ? 1 : 0;
