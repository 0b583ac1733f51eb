import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { WorkloadSpec } from "../platform.ts";
import { openRollout, type Rollout } from "./rollout.ts";
import type { ServingRecords } from "./serving-records.ts";
import type { ReplicaDeps } from "./start-replica.ts";
import type { WorkloadLogs } from "./workload-logs.ts";

/** The rollouts of all workloads. */
export interface Rollouts {
  get(workload: WorkloadRef): Rollout | undefined;
  /** The same, made when it is not there. */
  of(workload: WorkloadRef): Rollout;
  workloads(): WorkloadRef[];
  /** Starts what served in an earlier life, where its image is still there. */
  resume(): Promise<void>;
  /** Forgets it at once; its calls in flight may end within their limit. */
  remove(workload: WorkloadRef): Promise<void>;
  /** Stops everything without waiting for calls. */
  stop(): Promise<void>;
}

interface RolloutsOptions {
  readonly deps: ReplicaDeps;
  readonly logs: WorkloadLogs;
  readonly records: ServingRecords;
  readonly changed: (workload: WorkloadRef) => void;
}

export function openRollouts({ deps, logs, records, changed }: RolloutsOptions): Rollouts {
  const rollouts = new Map<string, { readonly workload: WorkloadRef; readonly rollout: Rollout }>();
  const leaving = new Set<Rollout>();

  function of(workload: WorkloadRef): Rollout {
    const known = rollouts.get(refText(workload));
    if (known) return known.rollout;
    const rollout = openRollout({
      workload,
      log: logs.of(workload),
      deps,
      changed: () => changed(workload),
      keep: (serving) => void records.keep(workload, serving),
    });
    rollouts.set(refText(workload), { workload, rollout });
    return rollout;
  }

  return {
    get: (workload) => rollouts.get(refText(workload))?.rollout,
    of,
    workloads: () => [...rollouts.values()].map(({ workload }) => workload),
    async resume() {
      const isThere = async ({ imageRef }: WorkloadSpec) => (await deps.resolveImage(imageRef)) !== undefined;
      for (const serving of await records.read(isThere)) of(serving.spec.workload).resume(serving);
    },
    async remove(workload) {
      const known = rollouts.get(refText(workload));
      rollouts.delete(refText(workload));
      if (known) {
        leaving.add(known.rollout);
        void known.rollout.retire().finally(() => leaving.delete(known.rollout));
      }
      await records.keep(workload, undefined);
    },
    async stop() {
      const all = [...[...rollouts.values()].map(({ rollout }) => rollout), ...leaving];
      await Promise.all(all.map((rollout) => rollout.stop()));
      await records.flush();
    },
  };
}
