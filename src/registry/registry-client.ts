import { createHash } from "node:crypto";
import type { Dispatcher } from "undici";
import { createSlots } from "../controller/slots.ts";
import { messageOf } from "../errors/index.ts";
import { accepted, expectStatus } from "./expect-status.ts";
import { isDigest, isTag } from "./image-reference.ts";
import { RegistryError } from "./registry-error.ts";
import { remoteBlob } from "./remote-blob.ts";
import { pull, push } from "./repository-scopes.ts";
import { openTransport, type RegistryOptions, type RegistryRequest } from "./transport.ts";
import { type BlobFile, hasBlob, mount, uploadBlob } from "./upload-blob.ts";

export const MEDIA_TYPES = {
  ociManifest: "application/vnd.oci.image.manifest.v1+json",
  ociIndex: "application/vnd.oci.image.index.v1+json",
  ociConfig: "application/vnd.oci.image.config.v1+json",
  ociLayer: "application/vnd.oci.image.layer.v1.tar+gzip",
  dockerManifest: "application/vnd.docker.distribution.manifest.v2+json",
  dockerIndex: "application/vnd.docker.distribution.manifest.list.v2+json",
  dockerConfig: "application/vnd.docker.container.image.v1+json",
  dockerLayer: "application/vnd.docker.image.rootfs.diff.tar.gzip",
} as const;
const MANIFEST_TYPES = [
  MEDIA_TYPES.ociManifest,
  MEDIA_TYPES.ociIndex,
  MEDIA_TYPES.dockerManifest,
  MEDIA_TYPES.dockerIndex,
];

/** A manifest or an index as the registry keeps it. */
export interface StoredManifest {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/**
 * One registry by the OCI distribution specification 1.1. What is fetched by digest is checked against it. Requests
 * that a busy or broken server did not answer are sent again.
 *
 * @throws RegistryError with the registry's own code and words
 */
export interface RegistryClient {
  /** `registry.example.org:5000`. */
  readonly host: string;
  /** By tag or digest; undefined when it is not there. */
  manifest(repository: string, reference: string): Promise<StoredManifest | undefined>;
  /** The digest behind a tag, or undefined; no bytes move. */
  manifestDigest(repository: string, reference: string): Promise<string | undefined>;
  /** Of a manifest or index that fits its media type; the digest is what the bytes have. */
  putManifest(repository: string, reference: string, manifest: Omit<StoredManifest, "digest">): Promise<string>;
  deleteManifest(repository: string, digest: string): Promise<void>;
  /** A blob, whole, in memory; of no more bytes than that, which are 2 GiB where nothing is said. */
  blob(repository: string, digest: string, maxBytes?: number): Promise<Uint8Array | undefined>;
  /**
   * The same piece by piece, as it comes: what is made of it counts only when the last piece came, for then it is known
   * whether they are those of the digest.
   */
  blobPieces(repository: string, digest: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  hasBlob(repository: string, digest: string): Promise<boolean>;
  /** Uploads, unless it is there. */
  putBlob(repository: string, blob: { readonly digest: string; readonly bytes: Uint8Array }): Promise<void>;
  /** The same with one that is read as it is sent; of the repositories in `from` one may have it already. */
  putBlobFile(repository: string, blob: BlobFile, from: readonly string[]): Promise<"present" | "mounted" | "uploaded">;
  /**
   * Makes a blob of one repository part of another one without moving it; where the registry will not, it is copied, and
   * memory holds a few pieces of it.
   */
  mountBlob(blob: {
    readonly digest: string;
    readonly size: number;
    readonly from: string;
    readonly to: string;
  }): Promise<"mounted" | "copied">;
  tags(repository: string): Promise<string[]>;
  close(): Promise<void>;
}

const MANIFEST_MAX_BYTES = 4 * 1024 * 1024;
/** No image has a longer configuration. */
export const CONFIG_MAX_BYTES = 8 * 1024 * 1024;
const BLOB_MAX_BYTES = 2 * 1024 * 1024 * 1024;

/** Nothing is sent before the first request. */
export function registryClient(options: RegistryOptions): RegistryClient {
  const transport = openTransport(options);
  // Each takes two connections: were all taken by uploads, none would get what it is to send.
  const copies = createSlots(Math.max(1, Math.floor(transport.concurrency / 4)));

  async function manifest(repository: string, reference: string): Promise<StoredManifest | undefined> {
    const response = await transport.send(readManifest("GET", repository, reference));
    if (response.statusCode === 404) return absent(response);
    const bytes = await bytesOf(await accepted(response, 200, reference), MANIFEST_MAX_BYTES);
    const digest = digestOf(bytes);
    if (reference.startsWith("sha256:") && reference !== digest) throw damaged(reference);
    // Some manifests name no type of their own: the header decides.
    const mediaType = String(response.headers["content-type"] ?? "")
      .split(";", 1)[0]!
      .trim();
    return { mediaType, digest, bytes };
  }

  const has = (repository: string, digest: string) => hasBlob(transport, repository, digest);

  async function openBlob(repository: string, digest: string): Promise<Dispatcher.ResponseData | undefined> {
    const response = await transport.send({
      ...pull(repository),
      method: "GET",
      path: `blobs/${digest}`,
      follow: true,
    });
    return response.statusCode === 404 ? absent(response) : accepted(response, 200, digest);
  }

  async function blob(repository: string, digest: string, maxBytes = BLOB_MAX_BYTES): Promise<Uint8Array | undefined> {
    const response = await openBlob(repository, digest);
    const bytes = response && (await bytesOf(response, maxBytes));
    if (bytes && digestOf(bytes) !== digest) throw damaged(digest);
    return bytes;
  }

  async function blobPieces(repository: string, digest: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const response = await openBlob(repository, digest);
    return response && checkedPieces(response, digest, options.host);
  }

  async function putBlob(repository: string, { digest, bytes }: { digest: string; bytes: Uint8Array }): Promise<void> {
    if (await has(repository, digest)) return;
    await uploadBlob(transport, repository, { digest, bytes });
  }

  return {
    host: options.host,
    manifest,
    hasBlob: has,
    blob,
    blobPieces,
    putBlob,
    async putBlobFile(repository, blob, from) {
      if (await has(repository, blob.digest)) return "present";
      for (const other of from)
        if (await mount(transport, { digest: blob.digest, from: other, to: repository })) return "mounted";
      await uploadBlob(transport, repository, blob);
      return "uploaded";
    },
    async manifestDigest(repository, reference) {
      const response = await transport.send(readManifest("HEAD", repository, reference));
      if (response.statusCode === 404) return absent(response);
      await expectStatus(response, 200, reference);
      const digest = response.headers["docker-content-digest"];
      return isDigest(digest) ? digest : (await manifest(repository, reference))?.digest;
    },
    async putManifest(repository, reference, { mediaType, bytes }) {
      const response = await transport.send({
        ...push(repository),
        method: "PUT",
        path: `manifests/${reference}`,
        headers: { "content-type": mediaType },
        body: bytes,
      });
      await expectStatus(response, 201, `${repository}:${reference}`);
      return digestOf(bytes);
    },
    async deleteManifest(repository, digest) {
      const scopes = [`repository:${repository}:pull,delete`];
      const response = await transport.send({ repository, scopes, method: "DELETE", path: `manifests/${digest}` });
      if (response.statusCode === 404) return absent(response);
      await expectStatus(response, 202, digest);
    },
    async mountBlob({ digest, size, from, to }) {
      if (from === to || (await has(to, digest))) return "mounted";
      if (await mount(transport, { digest, from, to })) return "mounted";
      const source = { client: { host: options.host, blobPieces }, repository: from };
      await copies.run(() => uploadBlob(transport, to, remoteBlob(source, { digest, size })));
      return "copied";
    },
    async tags(repository) {
      const response = await transport.send({ ...pull(repository), method: "GET", path: "tags/list" });
      if (response.statusCode === 404) return (await absent(response)) ?? [];
      const bytes = await bytesOf(await accepted(response, 200, repository), MANIFEST_MAX_BYTES);
      const { tags } = JSON.parse(Buffer.from(bytes).toString("utf8")) as { tags?: unknown };
      return Array.isArray(tags) ? tags.filter(isTag) : [];
    },
    close: () => transport.close(),
  };
}

function readManifest(method: "GET" | "HEAD", repository: string, reference: string): RegistryRequest {
  // Debian's registry answers 404 to whoever does not accept the type that it has.
  return {
    ...pull(repository),
    method,
    path: `manifests/${reference}`,
    headers: { accept: MANIFEST_TYPES.join(", ") },
  };
}

async function absent({ body }: Dispatcher.ResponseData): Promise<undefined> {
  await body.dump();
}

async function bytesOf({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Uint8Array);
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > maxBytes) throw tooLong(maxBytes);
  }
  return Buffer.concat(chunks);
}

async function* checkedPieces(
  { body }: Dispatcher.ResponseData,
  digest: string,
  host: string,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let bytes = 0;
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const { done, value } = await iterator.next().catch((error: unknown) => {
        throw new RegistryError(0, "", `registry ${host} broke off: ${messageOf(error)}`, { cause: error });
      });
      if (done) break;
      hash.update(value);
      bytes += value.byteLength;
      if (bytes > BLOB_MAX_BYTES) throw tooLong(BLOB_MAX_BYTES);
      yield value;
    }
  } finally {
    body.destroy();
  }
  if (`sha256:${hash.digest("hex")}` !== digest) throw damaged(digest);
}

/** `sha256:<hex>` of the bytes. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function tooLong(maxBytes: number): RegistryError {
  return new RegistryError(0, "SIZE_INVALID", `the registry's answer is larger than ${maxBytes} bytes`);
}

function damaged(digest: string): RegistryError {
  return new RegistryError(0, "DIGEST_INVALID", `the registry gave other bytes than those of ${digest}`);
}
