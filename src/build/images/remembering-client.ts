import type { Clock } from "../../controller/clock.ts";
import type { RegistryClient, StoredManifest } from "../../registry/index.ts";

export interface RememberingClient extends RegistryClient {
  /** What was seen, or the manifest of this digest, may be gone: asks for it again. */
  forget(digest?: string): void;
}

const BLOB_MAX_BYTES = 64 * 1024;
const MANIFEST_MAX_BYTES = 64 * 1024;
const CONTENTS_KEPT = 500;
const PLACES_KEPT = 50_000;

/**
 * The client, without questions whose answer is known: what a digest names never changes, and what was pushed stays for
 * a while. A registry that lost something says so when the manifest is put.
 *
 * @param forMs how long something pushed is taken to be there
 */
export function rememberingClient(client: RegistryClient, clock: Clock, forMs: number): RememberingClient {
  const manifests = new Map<string, StoredManifest>();
  const blobs = new Map<string, Uint8Array>();
  const places = new Map<string, number>();
  const isThere = (repository: string, digest: string) => {
    const seenAt = places.get(`${repository}@${digest}`);
    return seenAt !== undefined && clock.monotonicMs() - seenAt < forMs;
  };
  const saw = (repository: string, digest: string) =>
    keep(places, `${repository}@${digest}`, clock.monotonicMs(), PLACES_KEPT);

  return {
    ...client,
    async manifest(repository, reference) {
      const id = `${repository}@${reference}`;
      const known = manifests.get(id);
      if (known) return known;
      const found = await client.manifest(repository, reference);
      const isFixed = reference === found?.digest && found.bytes.byteLength <= MANIFEST_MAX_BYTES;
      if (found && isFixed) keep(manifests, id, found, CONTENTS_KEPT);
      return found;
    },
    async blob(repository, digest, maxBytes) {
      const id = `${repository}@${digest}`;
      const known = blobs.get(id);
      if (known) return known;
      const found = await client.blob(repository, digest, maxBytes);
      if (found && found.byteLength <= BLOB_MAX_BYTES) keep(blobs, id, found, CONTENTS_KEPT);
      return found;
    },
    async putBlob(repository, blob) {
      if (isThere(repository, blob.digest)) return;
      await client.putBlob(repository, blob);
      saw(repository, blob.digest);
    },
    async putBlobFile(repository, blob, from) {
      if (isThere(repository, blob.digest)) return "present";
      const how = await client.putBlobFile(repository, blob, from);
      saw(repository, blob.digest);
      return how;
    },
    async mountBlob(blob) {
      if (isThere(blob.to, blob.digest)) return "mounted";
      const how = await client.mountBlob(blob);
      saw(blob.to, blob.digest);
      return how;
    },
    forget(digest) {
      if (digest !== undefined) {
        for (const id of manifests.keys()) if (id.endsWith(`@${digest}`)) manifests.delete(id);
        return;
      }
      manifests.clear();
      blobs.clear();
      places.clear();
    },
  };
}

/** The oldest go first when it is much. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) break;
    map.delete(oldest);
  }
}
