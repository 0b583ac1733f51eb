export * from "./docker-config.ts";
export * from "./image-reference.ts";
export {
  CONFIG_MAX_BYTES,
  digestOf,
  MEDIA_TYPES,
  type RegistryClient,
  registryClient,
  type StoredManifest,
} from "./registry-client.ts";
export { isRegistryError, RegistryError } from "./registry-error.ts";
export { remoteBlob } from "./remote-blob.ts";
export type { RegistryOptions } from "./transport.ts";
export type { BlobFile } from "./upload-blob.ts";
