import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, SlessError } from "../errors/index.ts";
import type { ArchiveFile } from "./pack-archive.ts";
import { readArchive } from "./read-archive.ts";
import type { ArchiveLimits } from "./zip-entries.ts";

const WRITES_AT_ONCE = 16;

/**
 * Writes the files of a zip into a folder that is empty or not there. Nothing is written unless all of it may be, and
 * when writing fails the folder is removed. Folders without files are left out, as in Git.
 *
 * @throws SlessError `archive_invalid` with every faulty entry, `too_large`; `storage_unavailable` when the disk refuses
 */
export async function unpackArchive(bytes: Uint8Array, folder: string, limits: ArchiveLimits = {}): Promise<void> {
  const files = await readArchive(bytes, limits);
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0) throw new Error("it is not empty");
  } catch (error) {
    throw refused(folder, error);
  }
  try {
    await writeFiles(files, folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true }).catch(() => {});
    throw refused(folder, error);
  }
}

function refused(folder: string, error: unknown): SlessError {
  return new SlessError("storage_unavailable", { what: folder, cause: messageOf(error) }, { cause: error });
}

async function writeFiles(files: readonly ArchiveFile[], folder: string): Promise<void> {
  for (const parent of new Set(files.map(({ path }) => dirname(path)))) {
    await mkdir(join(folder, parent), { recursive: true });
  }
  const isLink = ({ mode }: ArchiveFile) => mode === "120000";
  await inGroups(
    files.filter((file) => !isLink(file)),
    // "wx": no file is there twice, whatever the file system takes for the same name.
    ({ path, mode, content }) =>
      writeFile(join(folder, path), content, { mode: mode === "100755" ? 0o755 : 0o644, flag: "wx" }),
  );
  // Links last, so that nothing is written through one.
  await inGroups(files.filter(isLink), ({ path, content }) =>
    symlink(Buffer.from(content).toString(), join(folder, path)),
  );
}

async function inGroups(files: readonly ArchiveFile[], write: (file: ArchiveFile) => Promise<void>): Promise<void> {
  for (let from = 0; from < files.length; from += WRITES_AT_ONCE) {
    const written = await Promise.allSettled(files.slice(from, from + WRITES_AT_ONCE).map(write));
    // Only when none is under way any more: the folder is removed after a failure.
    for (const result of written) if (result.status === "rejected") throw result.reason;
  }
}
