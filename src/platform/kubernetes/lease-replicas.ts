import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { Lease } from "../platform.ts";
import { REPLICA_PORT } from "./container-env.ts";
import type { LiveEndpoints } from "./live-objects.ts";

type Endpoint = LiveEndpoints["ready"][number];

/** Calls in flight from here of one replica. */
interface Use {
  leases: number;
  lastUsed: number;
}

/** Leases the replica with the fewest calls; among equals the one that waited longest. */
export function replicaLeases(
  endpointsOf: (workload: WorkloadRef) => readonly Endpoint[],
): (workload: WorkloadRef) => Lease | undefined {
  const uses = new Map<string, Use>();
  let count = 0;

  function useOf(workload: WorkloadRef, endpoint: Endpoint): Use | undefined {
    return uses.get(keyOf(workload, endpoint));
  }
  function lease(workload: WorkloadRef, endpoint: Endpoint): Lease {
    const key = keyOf(workload, endpoint);
    const use = uses.get(key) ?? { leases: 0, lastUsed: 0 };
    uses.set(key, use);
    use.leases += 1;
    use.lastUsed = ++count;
    let isReleased = false;
    return {
      origin: originOf(endpoint.address),
      replica: endpoint.replica,
      release() {
        if (isReleased) return;
        isReleased = true;
        use.leases -= 1;
        const isGone = use.leases === 0 && !endpointsOf(workload).some(({ replica }) => replica === endpoint.replica);
        if (isGone) uses.delete(key);
      },
    };
  }
  return (workload) => {
    let best: Endpoint | undefined;
    let bestUse: Use | undefined;
    for (const endpoint of endpointsOf(workload)) {
      const use = useOf(workload, endpoint);
      if (best && !isLess(use, bestUse)) continue;
      best = endpoint;
      bestUse = use;
    }
    return best && lease(workload, best);
  };
}

const UNUSED: Use = { leases: 0, lastUsed: 0 };

function isLess(a: Use = UNUSED, b: Use = UNUSED): boolean {
  return a.leases < b.leases || (a.leases === b.leases && a.lastUsed < b.lastUsed);
}

function keyOf(workload: WorkloadRef, { replica }: Endpoint): string {
  return `${refText(workload)} ${replica}`;
}

function originOf(address: string): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${REPLICA_PORT}`;
}
