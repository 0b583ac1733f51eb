import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { findGitDirectory, type GitDirectory, textOf } from "./git-directory.ts";

/** What a watcher sees of a repository. */
export interface RefsSeen {
  /** Undefined while there is no repository. */
  readonly place: GitDirectory | undefined;
  /** Differs when another repository is at that place. */
  readonly identity: string;
  /** Differs when a ref may have changed. */
  readonly fingerprint: string;
}

/** Looks at HEAD, packed-refs and every loose ref without reading what they say. Never throws. */
export async function lookAtRefs(repository: string): Promise<RefsSeen> {
  try {
    const place = await findGitDirectory(repository);
    const head = await textOf(join(place.gitDir, "HEAD"));
    const refs = join(place.commonDir, "refs");
    const { ino, birthtimeMs } = await stat(refs);
    const identity = `${place.gitDir} ${ino} ${birthtimeMs}`;
    const entries = await readdir(refs, { recursive: true, withFileTypes: true });
    const loose = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const states = await Promise.all([join(place.commonDir, "packed-refs"), ...loose.sort()].map(stateOf));
    return { place, identity, fingerprint: [identity, head, ...states].join("\n") };
  } catch {
    return { place: undefined, identity: "", fingerprint: "" };
  }
}

async function stateOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  return found ? `${file} ${found.ino} ${found.size} ${found.mtimeMs}` : "";
}
