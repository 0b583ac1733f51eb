import { type ObjectKey, refText, type WorkloadRef } from "../../apis/index.ts";
import type { WorkloadSpec, WorkloadState } from "../platform.ts";
import { secretsDigest, usesSecret } from "./prepare-run.ts";
import { openRollout, type Rollout } from "./rollout.ts";
import type { ServingRecords } from "./serving-records.ts";
import type { ReplicaDeps } from "./start-replica.ts";
import type { WorkloadLogs } from "./workload-logs.ts";

/** The rollouts of all workloads. */
export interface Rollouts {
  get(workload: WorkloadRef): Rollout | undefined;
  apply(spec: WorkloadSpec, replicas: number): Promise<WorkloadState>;
  /** Rolls over what uses the secret, where its values are others now. */
  secretChanged(secret: ObjectKey): Promise<void>;
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

/** Of secrets that cannot be read at the start: its replicas do not start either, until the first `apply` can. */
const UNREADABLE = "unreadable";

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
    async apply(spec, replicas) {
      const secrets = await secretsDigest(spec, deps);
      return of(spec.workload).apply(spec, replicas, secrets);
    },
    async secretChanged(secret) {
      const users = [...rollouts.values()].map(async ({ rollout }) => {
        const spec = rollout.spec();
        if (spec && usesSecret(spec, secret)) rollout.refresh(spec, await secretsDigest(spec, deps));
      });
      await Promise.all(users);
    },
    workloads: () => [...rollouts.values()].map(({ workload }) => workload),
    async resume() {
      const isThere = async ({ imageRef }: WorkloadSpec) => (await deps.resolveImage(imageRef)) !== undefined;
      for (const serving of await records.read(isThere)) {
        const secrets = await secretsDigest(serving.spec, deps).catch(() => UNREADABLE);
        of(serving.spec.workload).resume(serving, secrets);
      }
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
