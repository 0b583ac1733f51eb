import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { Platform } from "../platform.ts";
import { openEndpoints, readyOf, type ViewOptions } from "./cluster-view.ts";
import { replicaLeases } from "./lease-replicas.ts";
import { workloadOf } from "./names.ts";

/** What a gateway needs of the platform. It reads EndpointSlices alone, and leases from memory while the API server is away. */
export interface KubernetesReplicas extends Pick<Platform, "acquire" | "onChange"> {
  /** Resolves when all replicas are known; follows until the signal aborts. */
  start(signal: AbortSignal): Promise<void>;
}

export function kubernetesReplicas(options: ViewOptions): KubernetesReplicas {
  const { watch, index } = openEndpoints(options);
  const told = new Map<string, string>();
  const listeners = new Set<(workload: WorkloadRef) => void>();
  const endpointsOf = (workload: WorkloadRef) => readyOf(index, workload);

  watch.onChange((slice) => {
    const workload = workloadOf(slice);
    if (!workload) return;
    const now = endpointsOf(workload)
      .map(({ address }) => address)
      .sort()
      .join(" ");
    const key = refText(workload);
    if ((told.get(key) ?? "") === now) return;
    if (now === "") told.delete(key);
    else told.set(key, now);
    for (const listener of listeners) listener(workload);
  });
  return {
    acquire: replicaLeases(endpointsOf),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    start: (signal) => watch.start(signal),
  };
}
