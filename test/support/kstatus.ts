import type { AnyObject } from "../../src/apis/index.ts";

export type KStatus = "Current" | "InProgress" | "Failed" | "Terminating";

interface Seen {
  readonly metadata: Pick<AnyObject["metadata"], "generation" | "deletionTimestamp">;
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/**
 * What kstatus makes of a custom resource; Flux's health checks, `kubectl`-like tools of cli-utils and kpt decide by it.
 * The rules of `Compute` in sigs.k8s.io/cli-utils, pkg/kstatus/status (`generic.go`, `checkReadyCondition` in `core.go`),
 * in their order; `isOld` leaves out the last rule, which came later.
 */
export function kstatus({ metadata, status = {} }: Seen, { isOld = false } = {}): KStatus {
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  const { observedGeneration, conditions = [] } = status;
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) return "InProgress";
  for (const { type, status: value } of conditions) {
    if (type === "Reconciling" && value === "True") return "InProgress";
    if (type === "Stalled" && value === "True") return "Failed";
  }
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready && !isOld) return ready.status === "True" ? "Current" : "InProgress";
  return "Current";
}
