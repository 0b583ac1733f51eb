import { createHash } from "node:crypto";
import type { WorkloadRef } from "./kinds.ts";

/** Folder of a workload's archives in the object store, with the final slash. */
export function sourceKeyPrefix(ref: WorkloadRef): string {
  return `${ref.kind === "FunctionJob" ? "jobs" : "functions"}/${ref.namespace}/${ref.name}/`;
}

/** Object store key of a source archive: `functions/{ns}/{name}/{sourceDigest}.zip`, jobs below `jobs/`. */
export function sourceKey(ref: WorkloadRef, sourceDigest: string): string {
  return `${sourceKeyPrefix(ref)}${sourceDigest}.zip`;
}

/** The source digest that a key of this very workload names; undefined for any other key. */
export function sourceDigestOfKey(ref: WorkloadRef, key: string | undefined): string | undefined {
  const prefix = sourceKeyPrefix(ref);
  if (!key?.startsWith(prefix)) return undefined;
  return /^([0-9a-f]{64})\.zip$/.exec(key.slice(prefix.length))?.[1];
}

/** Repository part of an image's name: `sless-{ns}_{name}`, jobs `sless-{ns}_job_{name}`. */
export function imageName(ref: WorkloadRef): string {
  return `sless-${ref.namespace}_${ref.kind === "FunctionJob" ? "job_" : ""}${ref.name}`;
}

/** sha256 (hex) over length-prefixed fields, so that no two lists of fields share a hash. */
export function hashFields(fields: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  // Texts are gathered: a call of `update` costs more than hashing a path.
  let text = "";
  for (const field of fields) {
    if (typeof field === "string") text += `${Buffer.byteLength(field)}:${field}`;
    else {
      hash.update(`${text}${field.length}:`).update(field);
      text = "";
    }
  }
  return hash.update(text).digest("hex");
}
