import { lstat, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const LIST = ".sless-files.json";
const LOOKS_AT_ONCE = 64;

/** A file with its bytes, or a link (null); by its path in the folder. */
type Listed = readonly [path: string, bytes: number | null];

/**
 * Writes down in a finished folder which files it has and how long they are. What Python compiles is left out, for it is
 * written anew where the code runs.
 */
export async function sealFolder(folder: string): Promise<void> {
  const files: Listed[] = [];
  async function walk(below: string): Promise<void> {
    const entries = await readdir(join(folder, below), { withFileTypes: true });
    const others = entries.filter((entry) => !entry.isDirectory());
    await inGroups(others, async (entry) => {
      const path = below + entry.name;
      files.push([path, entry.isSymbolicLink() ? null : (await lstat(join(folder, path))).size]);
    });
    for (const entry of entries)
      if (entry.isDirectory() && entry.name !== "__pycache__") await walk(`${below}${entry.name}/`);
  }
  await walk("");
  await writeFile(join(folder, LIST), JSON.stringify(files));
}

/** What became of folders that were sealed, each looked at once. */
export interface FolderChecks {
  /** The first file that is gone or shorter than it was; undefined for a whole folder, and for one that was never sealed. */
  damage(folder: string): Promise<string | undefined>;
  /** It is looked at anew the next time. */
  forget(folder: string): void;
}

export function folderChecks(): FolderChecks {
  const known = new Map<string, Promise<string | undefined>>();
  return {
    damage(folder) {
      const before = known.get(folder);
      if (before) return before;
      const looking = damageIn(folder);
      known.set(folder, looking);
      looking.catch(() => known.delete(folder));
      return looking;
    },
    forget: (folder) => void known.delete(folder),
  };
}

async function damageIn(folder: string): Promise<string | undefined> {
  if (!(await isFolder(folder))) return "a folder of it is gone";
  const text = await readFile(join(folder, LIST), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const files = parseList(text);
  if (!files) return "the list of its files is damaged";
  let damage: string | undefined;
  await inGroups(files, async (listed) => {
    const found = damage === undefined ? await damageOf(folder, listed) : undefined;
    damage ??= found;
  });
  return damage;
}

function parseList(text: string): readonly Listed[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? (list as Listed[]) : undefined;
  } catch {
    return undefined;
  }
}

/** A file that grew is one that a function writes to. */
async function damageOf(folder: string, [path, bytes]: Listed): Promise<string | undefined> {
  const found = await lstat(join(folder, path)).catch(() => undefined);
  const shown = JSON.stringify(path);
  if (!found || (bytes === null ? !found.isSymbolicLink() : !found.isFile())) return `${shown} is gone`;
  if (bytes !== null && found.size < bytes) return `${shown} has ${found.size} of ${bytes} bytes`;
  return undefined;
}

async function inGroups<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < all.length; start += LOOKS_AT_ONCE)
    await Promise.all(all.slice(start, start + LOOKS_AT_ONCE).map(work));
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}
