import { open } from "node:fs/promises";
import { isSlessError, SlessError } from "../errors/index.ts";
import { faultyEntries, type OpenArchive } from "../source/index.ts";
import { RefusedRequest, refuseFields } from "../writes/index.ts";
import { openUpload } from "./store-upload.ts";

const REASONS_MAX = 100;
const PATH_MAX = 255;
/** An archive may have more, for not all of it need be source. */
const SOURCE_LIMITS = { field: "", message: "a source has at most 3,000 files and 50 MiB unpacked" };
const GZIP = Buffer.of(0x1f, 0x8b);

/**
 * The files of an upload, or its refusal as a request's: each faulty entry is in the details, and what is no zip at all
 * is told by what it is instead.
 *
 * @throws RefusedRequest `invalid_request`, `archive_invalid`; SlessError `too_large`
 */
export async function openUploaded(path: string): Promise<OpenArchive> {
  try {
    return await openUpload(path);
  } catch (error) {
    if (isSlessError(error, "too_large")) throw new RefusedRequest(error.code, error.details, [SOURCE_LIMITS]);
    if (!isSlessError(error, "archive_invalid")) throw error;
    const entries = faultyEntries(error);
    if (entries.length === 0) await refuseOtherBody(path);
    const reasons = entries
      .slice(0, REASONS_MAX)
      .map((entry) => ({ field: entry.path.slice(0, PATH_MAX), message: entry.reason }));
    throw entries.length === 0 ? error : new RefusedRequest(error.code, error.details, reasons);
  }
}

async function refuseOtherBody(path: string): Promise<void> {
  const start = await beginningOf(path);
  const how = "send the zip itself, as `curl --data-binary @code.zip` does";
  if (start.length === 0) refuseFields([{ field: "", message: `the body is empty; ${how}` }]);
  if (start.equals(GZIP)) refuseFields([{ field: "", message: `the body is compressed by gzip and no zip; ${how}` }]);
}

async function beginningOf(path: string): Promise<Buffer> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw new SlessError("storage_unavailable", { what: "The upload", cause: String(error) }, { cause: error });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(GZIP.length), 0, GZIP.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
