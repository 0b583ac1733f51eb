import { glob, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

async function textOf(...patterns: readonly string[]): Promise<string> {
  const texts: string[] = [];
  for await (const path of glob([...patterns], { cwd: ROOT })) texts.push(await readFile(join(ROOT, path), "utf8"));
  return texts.join("\n");
}

/** What a cluster gives each of its pods is no setting. */
const NO_SETTINGS = ["KUBERNETES_SERVICE_HOST", "PATH", "HOME"];

it("every variable that is read is named in a page, and every one that the pages of settings name is read", async () => {
  const source = await textOf("src/config/*.ts");
  const quoted = [...source.matchAll(/"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|PORT|KUBECONFIG)"/g)];
  const taken = [...source.matchAll(/\benv\.([A-Z][A-Z0-9_]+)/g)];
  const read = new Set([...quoted, ...taken].map((match) => match[1]!).filter((name) => !NO_SETTINGS.includes(name)));
  const pages = await textOf("README.md", "docs/**/*.md");
  expect([...read].filter((name) => !new RegExp(`\\b${name}\\b`).test(pages))).toEqual([]);

  const settings = await textOf("README.md", "docs/cluster/settings.md");
  const rows = settings.split("\n").filter((line) => /^\| `[A-Z]/.test(line));
  const named = rows
    .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([A-Z_0-9]+)`/g)])
    .map((match) => match[1]!);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !read.has(name))).toEqual([]);
});
