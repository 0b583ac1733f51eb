import { arrayBuffer } from "node:stream/consumers";
import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { keyParts } from "../object-key.ts";
import type { ObjectBody, ObjectEntry, ObjectReading, ObjectStore, ReadOptions } from "../object-store.ts";
import { putObject } from "./put-object.ts";
import { readObject } from "./read-object.ts";
import { type S3Options, s3Client } from "./s3-client.ts";
import { isAbsent, s3Failure } from "./s3-errors.ts";

export interface S3Store extends ObjectStore {
  /** An address at which whoever holds it may read this one object for so many seconds. */
  presignedGet(key: string, seconds: number): Promise<string>;
  close(): void;
}

/** A body of so many bytes is sent without asking first whether it is there. */
const SENT_UNASKED_BYTES = 64 * 1024;

/**
 * An ObjectStore in a bucket. Objects are put with `If-None-Match: *`, so that of several writers one stores; where a
 * server does not know that header, equal keys hold equal content anyway.
 *
 * @throws SlessError `storage_unavailable` when the bucket is not there or may not be used
 */
export async function openS3Store(options: S3Options): Promise<S3Store> {
  const { bucket: Bucket } = options;
  const client = s3Client(options);
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
    return putObject(client, { Bucket, Key }, body, () => has(key));
  }

  async function read(key: string, { signal }: ReadOptions = {}): Promise<ObjectReading | undefined> {
    const Key = checkedKey(key);
    signal?.throwIfAborted();
    return readObject(client, { Bucket, Key }, signal);
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
    await checkBucket(client, Bucket);
  } catch (error) {
    client.destroy();
    throw s3Failure(`Bucket ${Bucket}`, error);
  }
  return {
    put,
    has,
    async get(key) {
      const reading = await read(key);
      return reading && new Uint8Array(await arrayBuffer(reading.body));
    },
    read,
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

/** Not by a HEAD, whose answer has no words for what is wrong. */
async function checkBucket(client: ReturnType<typeof s3Client>, Bucket: string): Promise<void> {
  await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }));
}

async function absentIsUndefined<T>(what: string, sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw s3Failure(what, error);
  }
}
