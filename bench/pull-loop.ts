/**
 * The least that any pull into an unchanged folder does: fetch the lists, read and hash all files as Git does, and parse
 * the manifests to plain values. Baseline of `pull`. Usage: pull-loop.ts <url> <folder>
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

const [url = "", folder = ""] = process.argv.slice(2);
let objects = 0;
for (const plural of ["repositories", "functions", "services", "jobs", "triggers"]) {
  let next: string | undefined;
  do {
    const path = `/v1/namespaces/default/${plural}?output=object${next ? `&continue=${next}` : ""}`;
    const page = (await (await fetch(url + path)).json()) as { items: unknown[]; next?: string };
    objects += page.items.length;
    next = page.next;
  } while (next);
}
let documents = 0;
const hashes: string[] = [];
const entries = await readdir(join(folder, "functions"), { recursive: true, withFileTypes: true });
for (const entry of entries.filter((one) => one.isFile())) {
  const bytes = await readFile(join(entry.parentPath, entry.name));
  hashes.push(createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex"));
  if (!entry.name.endsWith(".yaml")) continue;
  for (const document of parseAllDocuments(bytes.toString())) {
    document.toJS();
    documents += 1;
  }
}
console.log(`${objects} objects, ${hashes.length} files, ${documents} documents`);
