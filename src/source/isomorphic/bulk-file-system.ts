import { promises } from "node:fs";
import { basename, dirname, join } from "node:path";

const NOTHING = Buffer.alloc(0);

/**
 * The file system for one bulk read. isomorphic-git looks for every object in a loose file first and lists the packs
 * for each anew; here a folder is listed once, and a loose file that is in no listing is not tried. What appears
 * meanwhile is not seen: use it for one pass, and another one for what was not found.
 */
export function bulkFileSystem(gitDir: string) {
  const objects = join(gitDir, "objects");
  const listings = new Map<string, Promise<string[]>>();
  const stats = new Map<string, ReturnType<typeof promises.stat>>();

  function once<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
    const present = known.get(key) ?? read();
    known.set(key, present);
    return present;
  }

  const packs = join(objects, "pack");
  const list = (folder: string) =>
    once(listings, folder, async () => {
      const names = await listFolder(folder);
      return folder === packs ? wholePacks(names) : names;
    });

  async function readFile(path?: string): Promise<Buffer> {
    // For every object isomorphic-git asks twice, without a path, whether the answer is a promise.
    if (path === undefined) return NOTHING;
    const folder = dirname(path);
    const isLoose = dirname(folder) === objects && basename(folder).length === 2;
    if (isLoose && !(await list(folder)).includes(basename(path))) {
      throw Object.assign(new Error(`${path} is not there`), { code: "ENOENT" });
    }
    return promises.readFile(path);
  }

  const stat = (path: string) => once(stats, path, () => promises.stat(path));
  return { promises: { ...promises, readFile, readdir: list, stat } };
}

/**
 * Without indexes that are on their way to their name, or whose pack is: isomorphic-git takes every index for that of a
 * pack, and what it finds in one whose pack is not there is lost to it, although another pack still has it.
 */
function wholePacks(names: readonly string[]): string[] {
  const all = new Set(names);
  return names.filter((name) => {
    if (!name.endsWith(".idx")) return true;
    return name.startsWith("pack-") && all.has(name.replace(/\.idx$/, ".pack"));
  });
}

/** The names in a folder; none when it is not there. */
export async function listFolder(folder: string): Promise<string[]> {
  return promises.readdir(folder).catch(() => []);
}
