import { isDeepStrictEqual } from "node:util";
import type { ObjectIntent } from "../apis/index.ts";

/** What differs between two objects: `spec.memoryMB`, `metadata.labels`. Names only, for values may be confidential. */
export function changedFields(before: ObjectIntent, after: ObjectIntent): string[] {
  return [
    ...(["labels", "annotations"] as const)
      .filter((field) => !isDeepStrictEqual(before.metadata[field], after.metadata[field]))
      .map((field) => `metadata.${field}`),
    ...differing(before.spec, after.spec).map((field) => `spec.${field}`),
  ];
}

function differing(before: object, after: object): string[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  const at = (value: object, field: string) => (value as Readonly<Record<string, unknown>>)[field];
  return [...fields].filter((field) => !isDeepStrictEqual(at(before, field), at(after, field)));
}
