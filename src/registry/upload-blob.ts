import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { expectStatus } from "./expect-status.ts";
import { isRegistryError, RegistryError } from "./registry-error.ts";
import { pull, push } from "./repository-scopes.ts";
import type { RegistryRequest, Transport } from "./transport.ts";

export interface Blob {
  /** `sha256:<hex>` of the bytes. */
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** A blob that is too large for memory. */
export interface BlobFile {
  /** `sha256:<hex>` of the bytes. */
  readonly digest: string;
  readonly size: number;
  /** The bytes from this one on; may be called several times. */
  readonly read: (from: number) => Readable;
}

const STARTS_MAX = 3;
/** In a row, with not a byte between them. */
const BREAKS_MAX = 3;

/**
 * Uploads a blob with one POST and one PUT (OCI distribution 1.1, "pushing a blob monolithically"). A connection that
 * breaks is gone on with where the registry got to, for as long as it gets any further; an upload that it has lost begins
 * anew, unless it had ended and only the answer was lost.
 *
 * @throws RegistryError
 */
export async function uploadBlob(transport: Transport, repository: string, blob: Blob | BlobFile): Promise<void> {
  for (let starts = 1; ; starts += 1) {
    // A registry that does not even begin one has been asked often enough by then.
    const place = await begin(transport, repository);
    try {
      await send(transport, repository, blob, place);
      return;
    } catch (error) {
      const isLost = isRegistryError(error, 404, 416, 500, 502, 503, 504);
      if (!isLost || starts >= STARTS_MAX) throw error;
      if (isRegistryError(error, 404) && (await hasBlob(transport, repository, blob.digest))) return;
    }
  }
}

export async function hasBlob(transport: Transport, repository: string, digest: string): Promise<boolean> {
  const response = await transport.send({ ...pull(repository), method: "HEAD", path: `blobs/${digest}` });
  if (response.statusCode !== 404) await expectStatus(response, 200, digest);
  else await response.body.dump();
  return response.statusCode === 200;
}

/** Makes a blob of another repository part of this one; false where the registry will not, or has it no more. */
export async function mount(transport: Transport, blob: { digest: string; from: string; to: string }) {
  const { digest, from, to } = blob;
  const response = await transport.send({
    repository: to,
    scopes: [`repository:${to}:pull,push`, `repository:${from}:pull`],
    method: "POST",
    path: `blobs/uploads/?mount=${encodeURIComponent(digest)}&from=${encodeURIComponent(from)}`,
  });
  await response.body.dump();
  return response.statusCode === 201;
}

async function begin(transport: Transport, repository: string): Promise<URL> {
  const response = await transport.send({ ...push(repository), method: "POST", path: "blobs/uploads/" });
  // Some registries take a single POST as all; without a digest none does.
  await expectStatus(response, 202, `an upload to ${repository}`);
  return placeOf(response, transport);
}

async function send(transport: Transport, repository: string, blob: Blob | BlobFile, first: URL): Promise<void> {
  const { digest } = blob;
  let place = first;
  let from = 0;
  let hasBroken = false;
  for (let breaks = 1; ; breaks += 1) {
    const isResumed = from > 0;
    try {
      if (isResumed && from < sizeOf(blob)) place = await patch(transport, repository, place, blob, from);
      const response = await transport.send({
        ...push(repository),
        method: "PUT",
        path: withDigest(place, digest),
        ...(isResumed ? bodyOf(EMPTY, 0) : bodyOf(blob, 0)),
        retry: false,
      });
      await expectStatus(response, 201, `${repository}@${digest}`);
      return;
    } catch (error) {
      if (hasBroken && isRegistryError(error) && SPOILED.has(error.code)) throw lost(error);
      if (!isRegistryError(error, 0) || breaks >= BREAKS_MAX) throw error;
      hasBroken = true;
      const reached = await progress(transport, repository, place);
      if (reached.bytes > from) breaks = 0;
      from = reached.bytes;
      place = reached.place;
    }
  }
}

/**
 * What the request that broke had sent may come behind what the registry said that it has; and of one byte it says the
 * same as of none. Only a new upload is sure to be empty.
 */
function lost({ code, message }: RegistryError): RegistryError {
  return new RegistryError(416, code, message);
}

const SPOILED: ReadonlySet<string> = new Set(["DIGEST_INVALID", "SIZE_INVALID", "BLOB_UPLOAD_INVALID"]);

const EMPTY: Blob = { digest: "", bytes: new Uint8Array() };

function bodyOf(blob: Blob | BlobFile, from: number): Required<Pick<RegistryRequest, "headers" | "body">> {
  const headers = { "content-type": "application/octet-stream" };
  if ("bytes" in blob) return { headers, body: blob.bytes.subarray(from) };
  return { headers: { ...headers, "content-length": String(blob.size - from) }, body: () => blob.read(from) };
}

function sizeOf(blob: Blob | BlobFile): number {
  return "bytes" in blob ? blob.bytes.byteLength : blob.size;
}

/** Sends what is missing of an upload. */
async function patch(transport: Transport, repository: string, place: URL, blob: Blob | BlobFile, from: number) {
  const { headers, body } = bodyOf(blob, from);
  const response = await transport.send({
    ...push(repository),
    method: "PATCH",
    path: place,
    headers: { ...headers, "content-range": `${from}-${sizeOf(blob) - 1}` },
    body,
    retry: false,
  });
  await expectStatus(response, 202, `the rest of an upload to ${repository}`);
  return placeOf(response, transport);
}

/** How many bytes of an upload the registry has. */
async function progress(transport: Transport, repository: string, place: URL): Promise<{ bytes: number; place: URL }> {
  const response = await transport.send({ ...push(repository), method: "GET", path: place });
  await expectStatus(response, 204, `the state of an upload to ${repository}`);
  const last = /^(?:bytes=)?0-(\d+)$/.exec(String(response.headers.range ?? ""))?.[1];
  // "0-0" is said of nothing and of one byte alike: begin with the first.
  const bytes = last === undefined || last === "0" ? 0 : Number(last) + 1;
  return { bytes, place: response.headers.location === undefined ? place : placeOf(response, transport) };
}

/** It may be another host's, which is told nothing. @throws RegistryError when the registry names none */
function placeOf({ headers: { location } }: Dispatcher.ResponseData, { origin }: Transport): URL {
  if (typeof location !== "string" || !URL.canParse(location, origin))
    throw new RegistryError(0, "", "the registry named no place for an upload");
  return new URL(location, origin);
}

function withDigest(place: URL, digest: string): URL {
  const url = new URL(place);
  url.searchParams.set("digest", digest);
  return url;
}
