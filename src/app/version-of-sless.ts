import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** As the package says it. */
export async function versionOfSless(): Promise<string> {
  const text = await readFile(join(import.meta.dirname, "../../package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
