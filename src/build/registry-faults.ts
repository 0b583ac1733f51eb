import { isRegistryError } from "../registry/index.ts";
import { BuildFault, toBuildFault } from "./build-fault.ts";

const GONE = ["BLOB_UNKNOWN", "MANIFEST_BLOB_UNKNOWN", "MANIFEST_UNKNOWN", "BLOB_UPLOAD_UNKNOWN"];

/** Something that was in the registry is not any more; pushing everything once more mends it. */
export function isGone(error: unknown): boolean {
  return isRegistryError(error) && GONE.includes(error.code);
}

/** What a build says of an error of `host`; other errors are told as they are. */
export function toImageFault(error: unknown, host: string): BuildFault {
  if (!isRegistryError(error)) return toBuildFault(error);
  const code = isRegistryError(error, 401, 403) ? "registry_denied" : "registry_unavailable";
  return new BuildFault(code, { host, cause: error.message }, { cause: error });
}
