import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../source/index.ts";

const NAME = /^\.sless-pull-(\d+)-[0-9a-f]{8}$/;

/** A folder of a pull under way, or of one that was killed. */
export function isStagingName(name: string): boolean {
  return NAME.test(name);
}

/** A folder beside what is written, so that files can be moved to their place whole. */
export interface Staging {
  /** A path for the next file. */
  next(): string;
  remove(): void;
}

/** Takes away the staging folders of pulls that were killed. */
export function removeAbandoned(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (isAbandoned(name)) rmSync(join(folder, name), { recursive: true });
}

/** Makes a staging folder that Git does not see, and takes away those of pulls that were killed. */
export function openStaging(folder: string): Staging {
  makeFolder(folder);
  removeAbandoned(folder);
  const path = join(folder, `.sless-pull-${process.pid}-${randomBytes(4).toString("hex")}`);
  mkdirSync(path);
  writeFileSync(join(path, ".gitignore"), "*\n");
  let count = 0;
  return {
    next: () => join(path, String(++count)),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function isAbandoned(name: string): boolean {
  const pid = NAME.exec(name)?.[1];
  return pid !== undefined && !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is one too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
