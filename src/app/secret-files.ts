import { readFile } from "node:fs/promises";
import { join } from "node:path";

const SAFE_PART = /^[A-Za-z0-9]([-._A-Za-z0-9]*)$/;

/**
 * Reads secrets of the embedded mode: `<folder>/<namespace>/<name>/<key>`, one value a file (design §6). Answers
 * undefined for what is not there, and for names that are no single path component.
 */
export function secretFiles(
  folder: string,
): (namespace: string, name: string, key: string) => Promise<string | undefined> {
  return async (...parts) => {
    if (!parts.every((part) => SAFE_PART.test(part) && !part.includes(".."))) return undefined;
    try {
      return await readFile(join(folder, ...parts), "utf8");
    } catch {
      return undefined;
    }
  };
}
