import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isNamespaceName, isSecretKey, isSecretName, type ObjectKey } from "../apis/index.ts";
import { syncFolder } from "../disk/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import type { SecretItem, SecretStore, SecretValues } from "../server/index.ts";

/** Begins with what no name of a secret has. */
const DRAFT = ".draft";

export interface SecretFiles extends SecretStore {
  /**
   * The value of a key; undefined for what is not there, and for names that no secret has.
   *
   * @throws SlessError `storage_unavailable`
   */
  read(namespace: string, name: string, key: string): Promise<string | undefined>;
  /** Hears of every secret whose keys or values differ from before. */
  onChange(listener: (secret: ObjectKey) => void): () => void;
}

/**
 * Secrets of the embedded mode: `<folder>/<namespace>/<name>/<key>`, one value a file, for this user's eyes alone
 * (files 0600, folders 0700). Used by one process at a time.
 */
export function secretFiles(folder: string): SecretFiles {
  const listeners = new Set<(secret: ObjectKey) => void>();
  let last: Promise<unknown> = Promise.resolve();

  /** One write after the other: what is compared with what is there stays so until it is written. */
  function serially<T>(secret: ObjectKey, work: (place: string) => Promise<T>): Promise<T> {
    const done = last.then(() => guarded(() => work(placeOf(folder, secret))));
    last = done.catch(() => undefined);
    return done;
  }
  function tell({ namespace, name }: ObjectKey): void {
    for (const listener of listeners) listener({ namespace, name });
  }

  return {
    async read(namespace, name, key) {
      if (!isPlace({ namespace, name }) || !isSecretKey(key)) return undefined;
      return guarded(() => readIfThere(join(folder, namespace, name, key)));
    },
    async list(namespace) {
      if (!isNamespaceName(namespace)) return [];
      const names = (await guarded(() => entriesOf(join(folder, namespace)))) ?? [];
      const items = names.filter(isSecretName).map((name) => itemIn(folder, { namespace, name }));
      return (await Promise.all(items)).filter((item) => item !== undefined);
    },
    get: async (secret) => (isPlace(secret) ? itemIn(folder, secret) : undefined),
    write: (secret, values, { replace }) =>
      serially(secret, async (place) => {
        const before = await entriesOf(place);
        const changed = await writeKeys(place, before ?? [], values, replace);
        if (changed || !before) tell(secret);
        return { item: (await itemIn(folder, secret))!, created: !before };
      }),
    delete: (secret) =>
      serially(secret, async (place) => {
        if (!(await entriesOf(place))) return false;
        // All keys go at once.
        const draft = join(dirname(place), DRAFT);
        await rm(draft, { recursive: true, force: true });
        await rename(place, draft);
        await syncFolder(dirname(place));
        await rm(draft, { recursive: true, force: true });
        tell(secret);
        return true;
      }),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** @returns whether anything differs from before */
async function writeKeys(
  place: string,
  before: readonly string[],
  values: SecretValues,
  replace: boolean,
): Promise<boolean> {
  const written = [...values].filter((entry): entry is [string, string] => entry[1] !== null);
  const removed = before.filter((key) => values.get(key) === null || (replace && !values.has(key)));
  refuseCollisions([...before.filter((key) => !removed.includes(key)), ...written.map(([key]) => key)]);
  await mkdir(place, { recursive: true, mode: 0o700 });
  let changed = removed.length > 0;
  // First, for on some file systems `Token` and `token` are one file.
  for (const key of removed) await rm(join(place, key), { force: true });
  for (const [key, value] of written) {
    if ((await readIfThere(join(place, key))) === value) continue;
    await replaceFile(join(place, key), value);
    changed = true;
  }
  // New names stand in their folders.
  for (const folder of [place, dirname(place), dirname(dirname(place))]) await syncFolder(folder);
  return changed;
}

/** A reader sees the old value or the new one, whole; so does whoever comes after a crash. */
async function replaceFile(path: string, value: string): Promise<void> {
  const draft = join(dirname(dirname(path)), DRAFT);
  await rm(draft, { recursive: true, force: true });
  await writeFile(draft, value, { mode: 0o600, flag: "wx", flush: true });
  await rename(draft, path);
}

function refuseCollisions(keys: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const key of keys) {
    const other = seen.get(key.toLowerCase());
    if (other !== undefined && other !== key)
      throw new SlessError("invalid_request", {
        cause: `keys ${other} and ${key} differ only in upper and lower case`,
      });
    seen.set(key.toLowerCase(), key);
  }
}

async function itemIn(folder: string, { namespace, name }: ObjectKey): Promise<SecretItem | undefined> {
  const keys = await guarded(() => entriesOf(join(folder, namespace, name)));
  return keys && { namespace, name, keys: keys.filter(isSecretKey) };
}

/** Names in a folder, sorted; undefined when there is no such folder. */
async function entriesOf(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function isPlace({ namespace, name }: ObjectKey): boolean {
  return isNamespaceName(namespace) && isSecretName(name);
}

/** @throws SlessError `invalid_request`, so that no path escapes */
function placeOf(folder: string, secret: ObjectKey): string {
  const { namespace, name } = secret;
  if (!isPlace(secret)) throw new SlessError("invalid_request", { cause: `${namespace}/${name} is no secret` });
  return join(folder, namespace, name);
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SlessError) throw error;
    throw new SlessError("storage_unavailable", { what: "The secrets", cause: messageOf(error) }, { cause: error });
  }
}
