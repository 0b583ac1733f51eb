import type { ObjectOf } from "./kinds.ts";

/**
 * Replicas that are to run: 0 when it has triggers and all are disabled (design §2), else `spec.replicas`
 * (default 1), and of 0 nevertheless 1 while a cron trigger with `preWarmSeconds` keeps it warm for a call. A trigger
 * that is being deleted counts no more. Never written to the spec.
 */
export function effectiveReplicas(
  object: ObjectOf<"Function"> | ObjectOf<"Service">,
  triggers: readonly ObjectOf<"Trigger">[],
): number {
  const staying = triggers.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const allDisabled = staying.length > 0 && staying.every(({ spec }) => spec.enabled === false);
  if (allDisabled) return 0;
  const replicas = object.spec.replicas ?? 1;
  return replicas === 0 && staying.some(keepsWarm) ? 1 : replicas;
}

function keepsWarm({ spec, status }: ObjectOf<"Trigger">): boolean {
  return spec.type === "cron" && spec.enabled !== false && status?.warm === true;
}
