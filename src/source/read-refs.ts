import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { messageOf, SlessError } from "../errors/index.ts";
import { type GitDirectory, textOf } from "./git-directory.ts";
import type { ObjectId } from "./git-reader.ts";
import { isObjectId, isRefName } from "./ref-name.ts";

// Refs are read from the files themselves: a look-up by exact name. Git's own revision parser would also find a
// branch whose name is `refs/heads/main` when `main` is gone.

const SYMREF_MAX_DEPTH = 5;

/** What HEAD names: a ref (which need not exist), or a commit when detached. @throws SlessError `repository_unreachable` */
export async function readHead(place: GitDirectory): Promise<{ ref: string } | { id: ObjectId }> {
  const value = await readValue(place, join(place.gitDir, "HEAD"), "HEAD");
  if (value === undefined) throw damaged(place, "HEAD");
  return value;
}

/**
 * The object that a full ref name (`refs/heads/main`) leads to, symbolic refs followed; undefined when there is none.
 *
 * @throws SlessError `repository_unreachable` for a damaged ref
 */
export async function readRef(place: GitDirectory, name: string): Promise<ObjectId | undefined> {
  let ref = name;
  for (let depth = 0; depth < SYMREF_MAX_DEPTH; depth++) {
    if (!isRefName(ref) || !ref.startsWith("refs/")) return undefined;
    // Loose before packed, as Git writes: `pack-refs` completes packed-refs before it removes the loose file.
    const value = (await readValue(place, join(place.commonDir, ref), ref)) ?? (await readPacked(place, ref));
    if (value === undefined || "id" in value) return value?.id;
    ref = value.ref;
  }
  throw damaged(place, name);
}

/** Whether the repository has any ref, so that "empty" can be told from "not this one". */
export async function hasRefs(place: GitDirectory): Promise<boolean> {
  if ((await textOf(join(place.commonDir, "packed-refs")))?.includes(" refs/")) return true;
  const entries = await readdir(join(place.commonDir, "refs"), { recursive: true, withFileTypes: true });
  return entries.some((entry) => !entry.isDirectory() && !entry.name.endsWith(".lock"));
}

/** Names of all tags, without `refs/tags/`. @throws SlessError `repository_unreachable` */
export async function tagNames(place: GitDirectory): Promise<string[]> {
  const folder = join(place.commonDir, "refs", "tags");
  return readable(place, async () => {
    const loose = await readdir(folder, { recursive: true, withFileTypes: true }).catch(unlessAbsent);
    const names = (loose ?? [])
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".lock"))
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join("/"));
    const packed = (await textOf(join(place.commonDir, "packed-refs"))) ?? "";
    const ofPacked = [...packed.matchAll(/^[0-9a-f]{40,64} refs\/tags\/(\S+)$/gm)].map((match) => match[1]!);
    return [...new Set([...names, ...ofPacked])];
  });
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

async function readValue(place: GitDirectory, file: string, name: string) {
  const text = (await readable(place, () => textOf(file)))?.trim();
  if (text === undefined) return undefined;
  const symbolic = /^ref:\s*(\S+)$/.exec(text)?.[1];
  if (symbolic !== undefined) return { ref: symbolic };
  const id = text.toLowerCase();
  if (!isObjectId(id)) throw damaged(place, name);
  return { id };
}

async function readPacked(place: GitDirectory, name: string): Promise<{ id: ObjectId } | undefined> {
  const packed = await readable(place, async () => {
    try {
      return await readFile(join(place.commonDir, "packed-refs"));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  });
  // A search instead of a parse: there may be 100,000 refs.
  const at = packed?.indexOf(` ${name}\n`) ?? -1;
  if (packed === undefined || at < 0) return undefined;
  const id = packed.toString("latin1", packed.lastIndexOf("\n", at) + 1, at);
  if (!isObjectId(id)) throw damaged(place, name);
  return { id };
}

async function readable<T>(place: GitDirectory, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new SlessError(
      "repository_unreachable",
      { url: place.repository, cause: messageOf(error) },
      { cause: error },
    );
  }
}

function damaged(place: GitDirectory, name: string): SlessError {
  return new SlessError("repository_unreachable", { url: place.repository, cause: `its ref ${name} is damaged` });
}
