import type { ObjectOf } from "./kinds.ts";

/**
 * Replicas that are to run: 0 when it has triggers and all are disabled (design §2), else `spec.replicas`
 * (default 1). A trigger that is being deleted counts no more. Never written to the spec.
 */
export function effectiveReplicas(
  object: ObjectOf<"Function"> | ObjectOf<"Service">,
  triggers: readonly ObjectOf<"Trigger">[],
): number {
  const staying = triggers.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const allDisabled = staying.length > 0 && staying.every(({ spec }) => spec.enabled === false);
  return allDisabled ? 0 : (object.spec.replicas ?? 1);
}
