import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../../disk/index.ts";
import { keyParts } from "../object-key.ts";
import type { ObjectBody, ObjectEntry, ObjectStore } from "../object-store.ts";
import { absentIsUndefined, BodyFault, codeOf, guarded } from "./disk-faults.ts";
import { readObject } from "./read-object.ts";

/**
 * An ObjectStore in a folder of one process: `objects/<key>` and, while they are written, `incoming/`.
 * What a crash left half written goes when the store is opened again.
 *
 * @throws SlessError `storage_unavailable` when the folder cannot be made
 */
export async function openFilesystemStore(folder: string): Promise<ObjectStore> {
  const objects = join(folder, "objects");
  const incoming = join(folder, "incoming");
  await guarded(`The folder ${folder}`, async () => {
    await rm(incoming, { recursive: true, force: true });
    await mkdir(incoming, { recursive: true });
    await mkdir(objects, { recursive: true });
  });
  const pathOf = (key: string) => join(objects, ...keyParts(key));
  const writes = new Map<string, Promise<"stored" | "present">>();

  async function write(key: string, body: ObjectBody): Promise<"stored" | "present"> {
    const path = pathOf(key);
    return guarded(`Object ${key}`, async () => {
      if (await isFile(path)) return "present";
      const draft = join(incoming, randomUUID());
      try {
        await writeDurably(draft, body);
        return await publish(draft, path, objects);
      } finally {
        await rm(draft, { force: true });
      }
    });
  }

  async function put(key: string, body: ObjectBody): Promise<"stored" | "present"> {
    // "present" promises durable bytes too: whoever comes second waits for the first.
    const ahead = writes.get(key);
    if (ahead) {
      const outcome = await ahead.catch(() => undefined);
      return outcome ? "present" : put(key, body);
    }
    const writing = write(key, body).finally(() => writes.delete(key));
    writes.set(key, writing);
    return writing;
  }

  return {
    put,
    async get(key) {
      const path = pathOf(key);
      return guarded(`Object ${key}`, () => absentIsUndefined(readFile(path)));
    },
    read: async (key, { signal } = {}) => readObject(`Object ${key}`, pathOf(key), signal),
    async has(key) {
      const path = pathOf(key);
      return guarded(`Object ${key}`, () => isFile(path));
    },
    list: (prefix) => listKeys(objects, prefix),
    entries: (prefix) => listEntries(objects, prefix),
    async delete(key) {
      const path = pathOf(key);
      await guarded(`Object ${key}`, () => absentIsUndefined(unlink(path)));
      await removeEmptyParents(path, objects);
    },
  };
}

async function* faultsMarked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new BodyFault("the body failed", { cause: error });
  }
}

async function writeDurably(path: string, body: ObjectBody): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(body instanceof Uint8Array ? body : faultsMarked(body));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Gives a finished draft its name, which a link does without ever overwriting, and makes the name durable. */
async function publish(draft: string, path: string, root: string): Promise<"stored" | "present"> {
  for (;;) {
    const made = await mkdir(dirname(path), { recursive: true });
    try {
      await link(draft, path);
      await syncFolders(dirname(path), made === undefined ? dirname(path) : root);
      return "stored";
    } catch (error) {
      if (codeOf(error) === "EEXIST") return "present";
      // A delete of a neighbour may have taken the empty folder away in between.
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
}

/** Syncs a folder and its parents up to `last`: a new folder's name stands in its parent. */
async function syncFolders(folder: string, last: string): Promise<void> {
  await syncFolder(folder);
  if (folder !== last) await syncFolders(dirname(folder), last);
}

/** Keys below a prefix of text, which may end within a name; sorted as strings, where `a-b/x` stands before `a/x`. */
async function* listKeys(root: string, prefix: string): AsyncGenerator<string> {
  const within = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  if (within !== "") keyParts(within.slice(0, -1));
  for await (const key of walk(root, within)) {
    if (key.startsWith(prefix)) yield key;
    else if (key > prefix) return;
  }
}

async function* listEntries(root: string, prefix: string): AsyncGenerator<ObjectEntry> {
  for await (const key of listKeys(root, prefix)) {
    const found = await guarded(`Object ${key}`, () => absentIsUndefined(stat(join(root, key))));
    // A name of a link keeps the time at which its bytes were written.
    if (found) yield { key, bytes: found.size, storedAt: found.mtime };
  }
}

async function* walk(root: string, within: string): AsyncGenerator<string> {
  const entries = await guarded(`Folder ${within}`, () =>
    absentIsUndefined(readdir(join(root, within), { withFileTypes: true })),
  );
  const names = (entries ?? []).map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  for (const name of names.sort()) {
    if (name.endsWith("/")) yield* walk(root, within + name);
    else yield within + name;
  }
}

async function removeEmptyParents(path: string, root: string): Promise<void> {
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return; // not empty, or gone already
    }
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await absentIsUndefined(stat(path)))?.isFile() ?? false;
}
