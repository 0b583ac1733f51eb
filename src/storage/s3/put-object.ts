import { Readable } from "node:stream";
import { ChecksumAlgorithm, ChecksumType, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { SlessError } from "../../errors/index.ts";
import type { ObjectBody } from "../object-store.ts";
import type { ObjectPlace } from "./read-object.ts";
import { isS3Error, isS3Status, s3Failure } from "./s3-errors.ts";

/** Parts of a large body; the least that S3 takes is 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
/** Tries while another writer is at it in the same moment. */
const CONFLICTS_MAX = 5;

/**
 * Stores a body that nobody stored before; see the port.
 *
 * @param has whether the object is there, for when the answer of the server leaves that open
 */
export async function putObject(
  client: S3Client,
  place: ObjectPlace,
  body: ObjectBody,
  has: () => Promise<boolean>,
): Promise<"stored" | "present"> {
  const what = `Object ${place.Key}`;
  for (let conflicts = 1; ; conflicts += 1) {
    try {
      if (body instanceof Uint8Array) await putBytes(client, place, body);
      else await putPieces(client, place, body);
      return "stored";
    } catch (error) {
      if (error instanceof BodyFault) throw error.cause;
      if (isS3Status(error, 412)) return "present";
      // An upload that is gone has ended: with an answer that got lost on the way, or because the server cleaned up.
      const isOpen = isS3Error(error, "NoSuchUpload") || isS3Error(error, "ConditionalRequestConflict");
      if (!isOpen) throw s3Failure(what, error);
      if (await has()) return "present";
      // A body in pieces was read: it cannot be sent again, and what is left of it is not the object.
      if (!(body instanceof Uint8Array) || conflicts >= CONFLICTS_MAX) throw conflict(what, error);
    }
  }
}

function conflict(what: string, error: unknown): SlessError {
  return new SlessError(
    "storage_unavailable",
    { what, cause: "another writer was at it at the same moment, and neither has stored it" },
    { cause: error },
  );
}

async function putBytes(client: S3Client, place: ObjectPlace, Body: Uint8Array): Promise<void> {
  try {
    await client.send(new PutObjectCommand({ ...place, Body, IfNoneMatch: "*" }));
  } catch (error) {
    if (!isS3Status(error, 501)) throw error;
    await client.send(new PutObjectCommand({ ...place, Body }));
  }
}

/** A large body goes part by part; one that fails leaves nothing behind, and its own error is what is told. */
async function putPieces(client: S3Client, place: ObjectPlace, body: AsyncIterable<Uint8Array>): Promise<void> {
  let fault: BodyFault | undefined;
  const told = (error: unknown) => (fault = new BodyFault("the body failed", { cause: error }));
  const upload = new Upload({
    client,
    params: {
      ...place,
      Body: Readable.from(watched(body, told), { objectMode: false }),
      IfNoneMatch: "*",
      // One sum of the whole: who reads it streams over the bounds of parts.
      ChecksumAlgorithm: ChecksumAlgorithm.CRC32,
      ChecksumType: ChecksumType.FULL_OBJECT,
    },
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
    leavePartsOnError: false,
  });
  try {
    await upload.done();
  } catch (error) {
    throw fault ?? error;
  }
}

/** Tells errors of the body alone: those of whoever leaves it in the middle are thrown into it. */
async function* watched(body: AsyncIterable<Uint8Array>, told: (error: unknown) => Error): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await iterator.next().catch((error: unknown) => {
        throw told(error);
      });
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Carries the error of a body past those of the server. */
class BodyFault extends Error {}
