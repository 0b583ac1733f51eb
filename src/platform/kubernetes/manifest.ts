import { hashFields } from "../../apis/index.ts";
import type { ApiObject } from "../../kubernetes/index.ts";
import { CHILD_ANNOTATIONS } from "./names.ts";

/** A child as it is wanted. */
export interface Manifest extends ApiObject {
  apiVersion: string;
  kind: "Deployment" | "Service" | "Job" | "Secret";
  metadata: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
  };
}

/** Adds the hash of all of it, by which a later run sees that nothing else is wanted now. */
export function sealed<M extends Manifest>(manifest: M): M {
  const { metadata } = manifest;
  const annotations = { ...metadata.annotations, [CHILD_ANNOTATIONS.manifestHash]: manifestHash(manifest) };
  return { ...manifest, metadata: { ...metadata, annotations } };
}

/** Equal for equal manifests, whatever the order of their keys. */
function manifestHash(manifest: Manifest): string {
  return hashFields([JSON.stringify(sortedKeys(manifest))]).slice(0, 32);
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sortedKeys(field)]),
  );
}
