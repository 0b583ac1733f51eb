import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { GetObjectCommand, type GetObjectCommandOutput, type S3Client } from "@aws-sdk/client-s3";
import { SlessError } from "../../errors/index.ts";
import type { ObjectReading } from "../object-store.ts";
import { isAbsent, s3Failure } from "./s3-errors.ts";

/** Connections in a row that may break before a body is given up; one that brought so much counts anew. */
const BREAKS_MAX = 4;
const PROGRESS_BYTES = 1 << 20;
const FIRST_WAIT_MS = 100;

export interface ObjectPlace {
  readonly Bucket: string;
  readonly Key: string;
}

/** An object as a stream; see the port. `what` names it in errors. */
export async function readObject(
  client: S3Client,
  place: ObjectPlace,
  signal: AbortSignal | undefined,
): Promise<ObjectReading | undefined> {
  const what = `Object ${place.Key}`;
  let first: GetObjectCommandOutput;
  try {
    first = await client.send(withChecksum(new GetObjectCommand(place)), sendOptions(signal));
  } catch (error) {
    signal?.throwIfAborted();
    if (isAbsent(error)) return undefined;
    throw s3Failure(what, error);
  }
  const { ContentLength: bytes } = first;
  if (bytes !== undefined) return { bytes, body: pieces(client, place, { first, bytes, signal }) };
  (first.Body as Readable).destroy();
  throw new SlessError("storage_unavailable", { what, cause: "the S3 server does not tell how long it is" });
}

/** Asks for the checksum without having the SDK check it: it cannot go on over a second connection. */
function withChecksum(command: GetObjectCommand): GetObjectCommand {
  command.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers["x-amz-checksum-mode"] = "ENABLED";
      return next(args);
    },
    { step: "build" },
  );
  return command;
}

interface Begun {
  readonly first: GetObjectCommandOutput;
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
}

async function* pieces(
  client: S3Client,
  place: ObjectPlace,
  { first, bytes, signal }: Begun,
): AsyncGenerator<Uint8Array> {
  const what = `Object ${place.Key}`;
  const nextWait = breakWaits();
  let body = first.Body as Readable;
  let at = 0;
  let sum = 0;
  try {
    for (;;) {
      let fault: unknown = new Error(`it ended after ${at} of ${bytes} bytes`);
      try {
        for await (const piece of body as AsyncIterable<Uint8Array>) {
          at += piece.byteLength;
          sum = crc32(piece, sum);
          yield piece;
        }
      } catch (error) {
        fault = error;
      }
      signal?.throwIfAborted();
      if (at >= bytes) break;
      const waitMs = nextWait(at);
      if (waitMs === undefined) throw s3Failure(what, fault);
      // Aborted it is told by what comes next.
      await wait(waitMs, undefined, { ...(signal && { signal }) }).catch(() => undefined);
      body = await goOn(client, place, { at, etag: first.ETag, signal });
    }
    check(what, { first, at, bytes, sum });
  } finally {
    body.destroy();
  }
}

/** How long to wait after a connection that broke at this byte; undefined when it is no use any more. */
function breakWaits(): (at: number) => number | undefined {
  let breaks = 0;
  let brokeAt = 0;
  return (at) => {
    breaks = at - brokeAt >= PROGRESS_BYTES ? 1 : breaks + 1;
    brokeAt = at;
    return breaks > BREAKS_MAX ? undefined : FIRST_WAIT_MS * 2 ** (breaks - 1);
  };
}

/** The rest of the same object: one that was replaced meanwhile is another. */
async function goOn(
  client: S3Client,
  place: ObjectPlace,
  { at, etag, signal }: { at: number; etag: string | undefined; signal: AbortSignal | undefined },
): Promise<Readable> {
  const what = `Object ${place.Key}`;
  try {
    const rest = await client.send(
      new GetObjectCommand({ ...place, Range: `bytes=${at}-`, ...(etag === undefined ? {} : { IfMatch: etag }) }),
      sendOptions(signal),
    );
    const body = rest.Body as Readable;
    if (rest.ContentRange?.startsWith(`bytes ${at}-`)) return body;
    body.destroy();
    throw new Error("the connection broke, and the S3 server does not go on in the middle");
  } catch (error) {
    signal?.throwIfAborted();
    throw s3Failure(what, error);
  }
}

/** Bytes that are too few, too many or others than those that were stored. */
function check(
  what: string,
  { first, at, bytes, sum }: { first: GetObjectCommandOutput; at: number; bytes: number; sum: number },
): void {
  if (at !== bytes) throw damaged(what, `${at} bytes came instead of ${bytes}`);
  const { ChecksumCRC32: stored } = first;
  // "…-2" is made of those of two parts; a server that keeps none leaves it to who knows what the key names.
  if (stored === undefined || stored.includes("-")) return;
  const found = Buffer.alloc(4);
  found.writeUInt32BE(sum);
  if (found.toString("base64") !== stored) throw damaged(what, "its checksum does not fit");
}

function damaged(what: string, cause: string): SlessError {
  return new SlessError("object_damaged", { what, cause });
}

function sendOptions(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal ? { abortSignal: signal } : {};
}
