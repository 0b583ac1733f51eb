import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { SlessError } from "../../errors/index.ts";
import { keyParts } from "../object-key.ts";
import type { ObjectBody, ObjectEntry, ObjectStore } from "../object-store.ts";
import { isS3Status, s3Failure } from "./s3-errors.ts";

export interface S3Options {
  /** Of a store that is not AWS: `https://s3.example.org`. */
  readonly endpoint?: string;
  readonly bucket: string;
  /** Default `us-east-1`, which other stores than AWS accept. */
  readonly region?: string;
  /** Without them the SDK looks for the machine's own (roles, profiles). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** `https://host/bucket/key` instead of `https://bucket.host/key`; default true where an endpoint is given. */
  readonly forcePathStyle?: boolean;
  /** Tries of a request that the server did not answer or answered 429 or 5xx; default 4. */
  readonly maxAttempts?: number;
  /** Milliseconds to connect, and without a byte; default 5,000 and 30,000. */
  readonly timeoutMs?: { readonly connect?: number; readonly idle?: number };
}

export interface S3Store extends ObjectStore {
  /** An address at which whoever holds it may read this one object for so many seconds. */
  presignedGet(key: string, seconds: number): Promise<string>;
  close(): void;
}

/** Parts of a large body; the least that S3 takes is 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024;
/** A body of so many bytes is sent without asking first whether it is there. */
const SENT_UNASKED_BYTES = 64 * 1024;

/**
 * An ObjectStore in a bucket. Objects are put with `If-None-Match: *`, so that of several writers one stores; where a
 * server does not know that header, equal keys hold equal content anyway.
 *
 * @throws SlessError `storage_unavailable` when the bucket is not there or may not be used
 */
export async function openS3Store(options: S3Options): Promise<S3Store> {
  const { bucket: Bucket, timeoutMs = {} } = options;
  const client = new S3Client({
    region: options.region ?? "us-east-1",
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    forcePathStyle: options.forcePathStyle ?? options.endpoint !== undefined,
    ...(options.credentials ? { credentials: options.credentials } : {}),
    maxAttempts: options.maxAttempts ?? 4,
    requestHandler: { connectionTimeout: timeoutMs.connect ?? 5_000, requestTimeout: timeoutMs.idle ?? 30_000 },
  });
  const checkedKey = (key: string) => keyParts(key).join("/");

  async function has(key: string): Promise<boolean> {
    const Key = checkedKey(key);
    const found = await absentIsUndefined(`Object ${key}`, client.send(new HeadObjectCommand({ Bucket, Key })));
    return found !== undefined;
  }

  async function put(key: string, body: ObjectBody): Promise<"stored" | "present"> {
    const Key = checkedKey(key);
    const isSmall = body instanceof Uint8Array && body.byteLength <= SENT_UNASKED_BYTES;
    if (!isSmall && (await has(key))) return "present";
    try {
      if (body instanceof Uint8Array) await putBytes(client, { Bucket, Key, Body: body });
      else await putPieces(client, { Bucket, Key }, body);
      return "stored";
    } catch (error) {
      if (error instanceof BodyFault) throw error.cause;
      if (isS3Status(error, 412)) return "present";
      // Two writers at the same moment (AWS): the other one may have failed, so it is looked at again.
      if (isS3Status(error, 409)) return put(key, body);
      throw s3Failure(`Object ${key}`, error);
    }
  }

  async function* entries(prefix: string): AsyncGenerator<ObjectEntry> {
    if (prefix.includes("/")) checkedKey(prefix.slice(0, prefix.lastIndexOf("/")));
    let ContinuationToken: string | undefined;
    do {
      const command = new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken });
      const page = await client.send(command).catch((error: unknown) => {
        throw s3Failure(`Keys below ${prefix}`, error);
      });
      for (const { Key: key, Size: bytes = 0, LastModified: storedAt = new Date() } of page.Contents ?? [])
        if (key !== undefined && !key.endsWith("/")) yield { key, bytes, storedAt };
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  try {
    await client.send(new HeadBucketCommand({ Bucket }));
  } catch (error) {
    client.destroy();
    if (isS3Status(error, 404)) throw s3Failure(`Bucket ${Bucket}`, missingBucket(Bucket));
    throw s3Failure(`Bucket ${Bucket}`, error);
  }
  return {
    put,
    has,
    async get(key) {
      const Key = checkedKey(key);
      const what = `Object ${key}`;
      const found = await absentIsUndefined(what, client.send(new GetObjectCommand({ Bucket, Key })));
      if (!found) return undefined;
      try {
        return (await found.Body?.transformToByteArray()) ?? new Uint8Array();
      } catch (error) {
        throw s3Failure(what, error);
      }
    },
    async *list(prefix) {
      for await (const { key } of entries(prefix)) yield key;
    },
    entries,
    async delete(key) {
      const Key = checkedKey(key);
      await absentIsUndefined(`Object ${key}`, client.send(new DeleteObjectCommand({ Bucket, Key })));
    },
    presignedGet: (key, seconds) =>
      getSignedUrl(client, new GetObjectCommand({ Bucket, Key: checkedKey(key) }), { expiresIn: seconds }),
    close: () => client.destroy(),
  };
}

function missingBucket(bucket: string): SlessError {
  const cause = "the bucket does not exist; make it, or correct S3_BUCKET";
  return new SlessError("storage_unavailable", { what: `Bucket ${bucket}`, cause });
}

async function putBytes(client: S3Client, object: { Bucket: string; Key: string; Body: Uint8Array }): Promise<void> {
  try {
    await client.send(new PutObjectCommand({ ...object, IfNoneMatch: "*" }));
  } catch (error) {
    if (!isS3Status(error, 501)) throw error;
    await client.send(new PutObjectCommand(object));
  }
}

/** A large body goes part by part; one that fails leaves nothing behind, and its own error is what is told. */
async function putPieces(
  client: S3Client,
  object: { Bucket: string; Key: string },
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  let fault: BodyFault | undefined;
  async function* watched() {
    try {
      yield* body;
    } catch (error) {
      fault = new BodyFault("the body failed", { cause: error });
      throw fault;
    }
  }
  const upload = new Upload({
    client,
    params: { ...object, Body: Readable.from(watched(), { objectMode: false }), IfNoneMatch: "*" },
    partSize: PART_BYTES,
    queueSize: 2,
    leavePartsOnError: false,
  });
  try {
    await upload.done();
  } catch (error) {
    throw fault ?? error;
  }
}

/** Carries the error of a body past those of the server. */
class BodyFault extends Error {}

async function absentIsUndefined<T>(what: string, sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (isS3Status(error, 404)) return undefined;
    throw s3Failure(what, error);
  }
}
