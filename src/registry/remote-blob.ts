import { Readable } from "node:stream";
import type { RegistryClient } from "./registry-client.ts";
import { RegistryError } from "./registry-error.ts";
import type { BlobFile } from "./upload-blob.ts";

/**
 * A blob of a registry that is read as it is sent on: memory holds a few pieces of it, and no disk any. Reading one that
 * is gone fails with a RegistryError of status 410 and code `BLOB_UNKNOWN`.
 */
export function remoteBlob(
  from: { readonly client: Pick<RegistryClient, "host" | "blobPieces">; readonly repository: string },
  { digest, size }: Pick<BlobFile, "digest" | "size">,
): BlobFile {
  return { digest, size, read: (at) => Readable.from(piecesFrom(from, digest, at), { objectMode: false }) };
}

/** What was sent is read once more: only the whole can be checked. */
async function* piecesFrom(
  { client, repository }: Parameters<typeof remoteBlob>[0],
  digest: string,
  from: number,
): AsyncGenerator<Uint8Array> {
  const pieces = await client.blobPieces(repository, digest);
  // Not the 404 of an upload that its registry has lost, which is begun anew.
  if (!pieces) throw new RegistryError(410, "BLOB_UNKNOWN", `${client.host}/${repository}@${digest} is gone`);
  let at = 0;
  for await (const piece of pieces) {
    const rest = piece.subarray(Math.max(0, from - at));
    at += piece.byteLength;
    if (rest.byteLength > 0) yield rest;
  }
}
