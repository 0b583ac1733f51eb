import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LocalImage } from "../../processes/index.ts";
import { type FolderChecks, sealFolder } from "./folder-checks.ts";
import { replaceFolder } from "./replace-folder.ts";

const RECORD = "image.json";
/** Stands for the image's own folder in a record, so that a draft can be moved into its place. */
export const IMAGE = "{image}";
/** Stands for the interpreter in a record of an image that was pulled. */
export const INTERPRETER = "{interpreter}";
/** An image that is used is touched at most this often. */
const TOUCH_MS = 600_000;

export interface ImageRecord {
  readonly runtime: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Key of the dependencies that it links to. */
  readonly dependencies?: string;
  /** Keys of the layers that an image of a registry was put together from. */
  readonly layers?: readonly string[];
  readonly builtAt: string;
  readonly durationMs: number;
}

/** Finished images, a folder each: `source/`, `deps`, what a build made, and a record. One that is there was whole once. */
export interface ImageFolders {
  folderOf(key: string): string;
  read(key: string): Promise<ImageRecord | undefined>;
  /** What is missing of an image that is there, with this record, or of what it links to; looked at once. */
  damage(key: string, record: ImageRecord): Promise<string | undefined>;
  /** As `damage`, of what is there now. */
  damageNow(key: string): Promise<string | undefined>;
  /** Undefined for an image that is not whole, too. */
  resolve(key: string): Promise<LocalImage | undefined>;
  /** Writes the record into a draft and gives it its name; what had it stays beside the draft for those that run in it. */
  publish(draft: string, key: string, record: ImageRecord): Promise<void>;
  /** Says that the image is in use, for clean-up. */
  touch(key: string, now: Date): Promise<void>;
  /** When it was last in use; undefined when it is not there. */
  usedAt(key: string): Promise<Date | undefined>;
  keys(): Promise<string[]>;
}

interface ImageFoldersOptions {
  readonly checks: FolderChecks;
  /** Folders outside of the image that it links to. */
  readonly linked: (record: ImageRecord) => readonly string[];
}

export function imageFolders(folder: string, { checks, linked }: ImageFoldersOptions): ImageFolders {
  const folderOf = (key: string) => join(folder, key);
  const recordOf = (key: string) => join(folderOf(key), RECORD);

  async function read(key: string): Promise<ImageRecord | undefined> {
    try {
      return JSON.parse(await readFile(recordOf(key), "utf8")) as ImageRecord;
    } catch {
      return undefined; // not there, or not readable: it is built anew
    }
  }

  const foldersOf = (key: string, record: ImageRecord) => [folderOf(key), ...linked(record)];

  async function damage(key: string, record: ImageRecord): Promise<string | undefined> {
    for (const part of foldersOf(key, record)) {
      const found = await checks.damage(part);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async function keys(): Promise<string[]> {
    return (await readdir(folder).catch(() => [])).filter((name) => /^[0-9a-f]{64}$/.test(name));
  }

  return {
    folderOf,
    read,
    keys,
    damage,
    async damageNow(key) {
      const record = await read(key);
      if (!record) return undefined;
      for (const part of foldersOf(key, record)) checks.forget(part);
      return damage(key, record);
    },
    async resolve(key) {
      const record = await read(key);
      return record && (await damage(key, record)) === undefined ? toLocalImage(record, folderOf(key)) : undefined;
    },
    async publish(draft, key, record) {
      await sealFolder(draft);
      await writeFile(join(draft, RECORD), JSON.stringify(record));
      await mkdir(folder, { recursive: true });
      await replaceFolder(draft, folderOf(key), join(dirname(draft), `replaced-${key}`));
      checks.forget(folderOf(key));
    },
    async touch(key, now) {
      const found = await stat(recordOf(key)).catch(() => undefined);
      if (found && now.getTime() - found.mtimeMs > TOUCH_MS) await utimes(recordOf(key), now, now);
    },
    async usedAt(key) {
      // One without a record is a folder that something else has damaged.
      const found = await stat(recordOf(key)).catch(() => stat(folderOf(key)).catch(() => undefined));
      return found?.mtime;
    },
  };
}

function toLocalImage(record: ImageRecord, folder: string): LocalImage {
  const here = (text: string) => text.replaceAll(IMAGE, folder);
  return {
    runtime: record.runtime,
    folder,
    source: join(folder, "source"),
    deps: join(folder, "deps"),
    command: record.command.map(here),
    env: Object.fromEntries(Object.entries(record.env).map(([name, value]) => [name, here(value)])),
  };
}
