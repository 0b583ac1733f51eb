import { SlessError } from "../errors/index.ts";

const KEY_MAX_LENGTH = 1024;
const PART_MAX_LENGTH = 255;

/**
 * The parts of a key, safe as names of files: printable ASCII without backslash, no empty part, no `.` or `..`.
 *
 * @throws SlessError `invalid_request` for any other key; nothing outside the store's folder can be named
 */
export function keyParts(key: string): string[] {
  const parts = key.split("/");
  if (key.length > KEY_MAX_LENGTH || !parts.every(isPart)) {
    throw new SlessError("invalid_request", { cause: `${JSON.stringify(key.slice(0, 200))} is no object key` });
  }
  return parts;
}

function isPart(part: string): boolean {
  return /^[!-[\]-~]+$/.test(part) && part.length <= PART_MAX_LENGTH && part !== "." && part !== "..";
}
