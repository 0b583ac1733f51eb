import { hashFields, type WorkloadRef } from "../../apis/index.ts";
import type { LogFile } from "../../processes/index.ts";
import type { Lease, WorkloadSpec, WorkloadState } from "../platform.ts";
import { openRevision, type Revision } from "./revision.ts";
import type { Serving } from "./serving-records.ts";
import type { ReplicaDeps } from "./start-replica.ts";
import { leaseLeastBusy } from "./table.ts";

/** One workload: the revision that serves, and perhaps the next one that is not ready yet. */
export interface Rollout {
  apply(spec: WorkloadSpec, replicas: number): WorkloadState;
  /** Starts what served in an earlier life; it counts as what serves, so that a next revision rolls over from it. */
  resume(serving: Serving): void;
  state(): WorkloadState;
  acquire(): Lease | undefined;
  /** Stops it; calls in flight may end within their limit. Resolves when nothing of it runs. */
  retire(): Promise<void>;
  /** Stops it without waiting for calls. */
  stop(): Promise<void>;
}

interface RolloutOptions {
  readonly workload: WorkloadRef;
  readonly log: LogFile;
  readonly deps: ReplicaDeps;
  /** The state differs from what was told last. */
  readonly changed: () => void;
  /** Another revision, or another number of its replicas, serves from now on; undefined when none does. */
  readonly keep: (serving: Serving | undefined) => void;
}

/** Moves a workload from revision to revision: the old one serves until all replicas of the new one are healthy. */
export function openRollout({ workload, log, deps, changed, keep }: RolloutOptions): Rollout {
  let serving: Revision | undefined;
  let next: Revision | undefined;
  let replicas = 0;
  let told = "";
  let kept: { readonly revision: Revision; readonly replicas: number } | undefined;
  let ended = false;
  let started = 0;
  const retiring = new Set<Revision>();

  function open(spec: WorkloadSpec): Revision {
    const digest = specDigest(spec).slice(0, 6);
    const nextName = () => `${workload.name}-${digest}-${++started}`;
    return openRevision({ spec, log, deps, nextName, changed: advance });
  }

  function retire(revision: Revision | undefined): void {
    if (!revision) return;
    retiring.add(revision);
    void revision.retire().finally(() => retiring.delete(revision));
  }

  /** The next revision takes over when it is complete, or when nothing else serves. */
  function advance(): void {
    if (next && next.seats.length > 0 && (next.seats.length >= next.target || !serving || serving.seats.length === 0)) {
      const old = serving;
      serving = next;
      next = undefined;
      retire(old);
    }
    tell();
  }

  function tell(): void {
    if (ended) return;
    if (kept?.revision !== serving || kept?.replicas !== serving?.target) {
      kept = serving && { revision: serving, replicas: serving.target };
      keep(serving && { spec: serving.spec, replicas: serving.target });
    }
    const now = JSON.stringify(state());
    if (now === told) return;
    told = now;
    changed();
  }

  function state(): WorkloadState {
    const wanted = next ?? serving;
    const count = serving?.seats.length ?? 0;
    return {
      serving: count,
      ...(serving && count > 0 ? { servingImageRef: serving.spec.imageRef } : {}),
      current: !next && count >= replicas,
      ...(wanted?.failure ? { failure: wanted.failure } : {}),
    };
  }

  function aim(spec: WorkloadSpec): void {
    if (serving && isEqualSpec(serving.spec, spec)) {
      retire(next);
      next = undefined;
      serving.scale(replicas);
      return;
    }
    if (!next || !isEqualSpec(next.spec, spec)) {
      retire(next);
      next = open(spec);
    }
    next.scale(replicas);
    if (serving && replicas < serving.target) serving.scale(replicas);
  }

  return {
    apply(spec, wanted) {
      replicas = wanted;
      if (wanted > 0) {
        aim(spec);
      } else {
        retire(next);
        retire(serving);
        next = undefined;
        serving = undefined;
      }
      advance();
      return state();
    },
    resume(former) {
      replicas = former.replicas;
      serving = open(former.spec);
      kept = { revision: serving, replicas };
      serving.scale(replicas);
    },
    state,
    acquire: () => serving && leaseLeastBusy(serving.seats),
    async retire() {
      ended = true;
      retire(next);
      retire(serving);
      next = undefined;
      serving = undefined;
      await Promise.all([...retiring].map((revision) => revision.retire()));
    },
    async stop() {
      ended = true;
      const all = [...retiring, ...(next ? [next] : []), ...(serving ? [serving] : [])];
      next = undefined;
      serving = undefined;
      await Promise.all(all.map((revision) => revision.stop()));
    },
  };
}

function isEqualSpec(a: WorkloadSpec, b: WorkloadSpec): boolean {
  return a === b || specDigest(a) === specDigest(b);
}

/** Equal for equal specs, whatever the order of their maps. */
function specDigest(spec: WorkloadSpec): string {
  const env = Object.entries(spec.env).toSorted(byName);
  const secretEnv = Object.entries(spec.secretEnv).toSorted(byName);
  return hashFields([
    spec.imageRef,
    spec.entrypoint,
    String(spec.memoryMB),
    String(spec.timeoutSec),
    ...env.flat(),
    "secrets",
    ...secretEnv.flatMap(([variable, { secret, key }]) => [variable, secret, key]),
  ]);
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
