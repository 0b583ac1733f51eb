import { isSlessError } from "../errors/index.ts";
import { type ArchiveLimits, type OpenArchive, receiveArchive, sourceDigest } from "../source/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import { BuildFault } from "./build-fault.ts";
import type { BuildRequest } from "./builder.ts";

export interface SourceDeps {
  readonly objects: Pick<ObjectStore, "read">;
  readonly limits: ArchiveLimits;
  /** Archives lie there while they are open; their files have no name then. */
  readonly temporary: string;
  /** An archive that takes longer to come is given up. Default 10 min. */
  readonly receiveMaxMs?: number | undefined;
}

const RECEIVE_MAX_MS = 600_000;

/**
 * Opens the source of a request: all of it came, and it is what its key names. Memory holds a few pieces of it.
 *
 * @throws BuildFault `source_unavailable`; SlessError `too_large`, `storage_unavailable`; the signal's reason
 */
export async function openSource(
  { sourceKey, sourceDigest: digest }: Pick<BuildRequest, "sourceKey" | "sourceDigest">,
  { objects, limits, temporary, receiveMaxMs = RECEIVE_MAX_MS }: SourceDeps,
  signal: AbortSignal,
): Promise<OpenArchive> {
  const late = AbortSignal.timeout(receiveMaxMs);
  const failed = new AbortController();
  try {
    const both = AbortSignal.any([signal, late, failed.signal]);
    const reading = await objects.read(sourceKey, { signal: both });
    if (!reading) throw unavailable(sourceKey, "it is not there");
    const archive = await receiveArchive(reading.body, { folder: temporary, what: sourceKey, limits, signal: both });
    if (sourceDigest(archive.files) === digest) return archive;
    await archive.close();
    throw damaged(sourceKey, "its files are not those that its name stands for");
  } catch (error) {
    // A body that nobody began to read, for the disk refused, would keep its connection.
    failed.abort();
    signal.throwIfAborted();
    if (late.aborted && !isSlessError(error)) throw unavailable(sourceKey, `it did not come in ${receiveMaxMs} ms`);
    // What sless stores can be read again: something has happened to it since.
    if (isSlessError(error, "archive_invalid") || isSlessError(error, "object_damaged"))
      throw damaged(sourceKey, String(error.details.cause));
    throw error;
  }
}

function damaged(key: string, how: string): BuildFault {
  return unavailable(key, `it is damaged (${how})`);
}

function unavailable(key: string, cause: string): BuildFault {
  return new BuildFault("source_unavailable", { key, cause });
}
