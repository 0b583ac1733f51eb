import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, SlessError } from "../errors/index.ts";
import type { OpenArchive } from "./open-archive.ts";
import type { StoredFile } from "./stored-file.ts";

const WRITES_AT_ONCE = 16;
/** Larger ones are written piece by piece. */
const AT_ONCE_MAX_BYTES = 64 << 10;

/**
 * Writes the files of an archive into a folder that is empty or not there; when writing fails the folder is removed.
 * Folders without files are left out, as in Git. Memory holds a few pieces of some files.
 *
 * @throws SlessError `storage_unavailable` when the disk refuses; the signal's reason
 */
export async function unpackArchive(
  { files }: Pick<OpenArchive, "files">,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0) throw new Error("it is not empty");
  } catch (error) {
    throw refused(folder, error);
  }
  try {
    await writeFiles(files, folder, signal);
  } catch (error) {
    await rm(folder, { recursive: true, force: true }).catch(() => {});
    signal?.throwIfAborted();
    throw refused(folder, error);
  }
}

function refused(folder: string, error: unknown): SlessError {
  return new SlessError("storage_unavailable", { what: folder, cause: messageOf(error) }, { cause: error });
}

async function writeFiles(
  files: readonly StoredFile[],
  folder: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const parent of new Set(files.map(({ path }) => dirname(path)))) {
    await mkdir(join(folder, parent), { recursive: true });
  }
  const isLink = ({ mode }: StoredFile) => mode === "120000";
  await inGroups(
    files.filter((file) => !isLink(file)),
    // "wx": no file is there twice, whatever the file system takes for the same name.
    async ({ path, mode, size, read, stream }) => {
      const content = size <= AT_ONCE_MAX_BYTES ? await read() : stream();
      await writeFile(join(folder, path), content, { mode: mode === "100755" ? 0o755 : 0o644, flag: "wx" });
    },
    signal,
  );
  // Links last, so that nothing is written through one.
  await inGroups(
    files.filter(isLink),
    async ({ path, read }) => symlink(Buffer.from(await read()).toString(), join(folder, path)),
    signal,
  );
}

async function inGroups(
  files: readonly StoredFile[],
  write: (file: StoredFile) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let from = 0; from < files.length; from += WRITES_AT_ONCE) {
    signal?.throwIfAborted();
    const written = await Promise.allSettled(files.slice(from, from + WRITES_AT_ONCE).map(write));
    // Only when none is under way any more: the folder is removed after a failure.
    for (const result of written) if (result.status === "rejected") throw result.reason;
  }
}
