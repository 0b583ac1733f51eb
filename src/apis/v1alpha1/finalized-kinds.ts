import { FINALIZER } from "./group.ts";
import { type Kind, WORKLOAD_KINDS } from "./kinds.ts";

/** Kinds that leave something behind: a workload what was built and runs of it, a Repository its objects. */
export const FINALIZED_KINDS: ReadonlySet<Kind> = new Set<Kind>([...WORKLOAD_KINDS, "Repository"]);

/**
 * The finalizers that a new object of the kind is born with, to be spread into its metadata: so it never is without,
 * and no request is spent on them.
 */
export function finalizersFor(kind: Kind): { finalizers?: string[] } {
  return FINALIZED_KINDS.has(kind) ? { finalizers: [FINALIZER] } : {};
}
