import type { Kind, ObjectOf } from "./kinds.ts";

/**
 * Whether calls from outside arrive: a Service always, a Function while it has an enabled http trigger that is not being
 * deleted.
 */
export function isReachable(kind: Kind, triggers: readonly ObjectOf<"Trigger">[]): boolean {
  return (
    kind === "Service" ||
    triggers.some(
      ({ metadata, spec }) =>
        spec.type === "http" && spec.enabled !== false && metadata.deletionTimestamp === undefined,
    )
  );
}
