import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, SlessError } from "../errors/index.ts";

const ID = /^[0-9a-f]{12}$/;

/**
 * Tells this data folder from every other that uses the same registry or bucket: 12 hex digits, made once.
 *
 * @throws SlessError `storage_unavailable`
 */
export async function installationId(data: string): Promise<string> {
  const file = join(data, "installation");
  const known = (await readFile(file, "utf8").catch(() => "")).trim();
  if (ID.test(known)) return known;
  const made = randomBytes(6).toString("hex");
  try {
    await writeFile(file, `${made}\n`, { flush: true });
  } catch (error) {
    throw new SlessError("storage_unavailable", { what: file, cause: messageOf(error) }, { cause: error });
  }
  return made;
}
