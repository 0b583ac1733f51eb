import { hashFields, type WorkloadRef } from "../../apis/index.ts";
import type { LogFile } from "../../processes/index.ts";
import type { Lease, WorkloadSpec, WorkloadState } from "../platform.ts";
import { openRevision, type Revision } from "./revision.ts";
import type { Serving } from "./serving-records.ts";
import type { ReplicaDeps } from "./start-replica.ts";
import { leaseLeastBusy } from "./table.ts";

/** One workload: the revision that serves, and perhaps the next one that is not ready yet. */
export interface Rollout {
  /** @param secrets what `secretsDigest` says of the spec: with other values it is another revision */
  apply(spec: WorkloadSpec, replicas: number, secrets: string): WorkloadState;
  /** Starts what served in an earlier life; it counts as what serves, so that a next revision rolls over from it. */
  resume(serving: Serving, secrets: string): void;
  /** The spec that was applied or resumed last. */
  spec(): WorkloadSpec | undefined;
  /** The values of the spec's secrets are others now; a spec that is not the present one is left. */
  refresh(spec: WorkloadSpec, secrets: string): void;
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
export function openRollout(options: RolloutOptions): Rollout {
  const course: Course = {
    ...options,
    spec: undefined,
    serving: undefined,
    next: undefined,
    replicas: 0,
    told: "",
    kept: undefined,
    ended: false,
    started: 0,
    retiring: new Set(),
  };
  return {
    apply(spec, wanted, secrets) {
      course.spec = spec;
      course.replicas = wanted;
      if (wanted > 0) aim(course, spec, secrets);
      else retireAll(course);
      advance(course);
      return stateOf(course);
    },
    spec: () => course.spec,
    refresh(spec, secrets) {
      if (course.ended || course.replicas === 0 || course.spec !== spec) return;
      aim(course, spec, secrets);
      advance(course);
    },
    resume({ spec, replicas }, secrets) {
      course.spec = spec;
      course.replicas = replicas;
      course.serving = open(course, spec, secrets);
      course.kept = { revision: course.serving, replicas };
      course.serving.scale(replicas);
    },
    state: () => stateOf(course),
    acquire: () => course.serving && leaseLeastBusy(course.serving.seats),
    async retire() {
      course.ended = true;
      retireAll(course);
      await Promise.all([...course.retiring].map((revision) => revision.retire()));
    },
    async stop() {
      course.ended = true;
      retireAll(course);
      await Promise.all([...course.retiring].map((revision) => revision.stop()));
    },
  };
}

interface Course extends RolloutOptions {
  spec: WorkloadSpec | undefined;
  serving: Revision | undefined;
  /** Not ready yet. */
  next: Revision | undefined;
  /** Wanted. */
  replicas: number;
  /** The state that the listeners know. */
  told: string;
  /** What the next life of sless would begin with. */
  kept: { readonly revision: Revision; readonly replicas: number } | undefined;
  ended: boolean;
  /** Replicas so far, for their names. */
  started: number;
  readonly retiring: Set<Revision>;
}

function open(course: Course, spec: WorkloadSpec, secrets: string): Revision {
  const { workload, log, deps } = course;
  // Not of the secrets: names of replicas stand in logs.
  const digest = specDigest(spec).slice(0, 6);
  const nextName = () => `${workload.name}-${digest}-${++course.started}`;
  return openRevision({ spec, secrets, log, deps, nextName, changed: () => advance(course) });
}

function aim(course: Course, spec: WorkloadSpec, secrets: string): void {
  const { serving, replicas } = course;
  if (serving && isMadeOf(serving, spec, secrets)) {
    retire(course, course.next);
    course.next = undefined;
    serving.scale(replicas);
    return;
  }
  if (!course.next || !isMadeOf(course.next, spec, secrets)) {
    retire(course, course.next);
    course.next = open(course, spec, secrets);
  }
  course.next.scale(replicas);
  if (serving && replicas < serving.target) serving.scale(replicas);
}

function retire({ retiring }: Course, revision: Revision | undefined): void {
  if (!revision) return;
  retiring.add(revision);
  void revision.retire().finally(() => retiring.delete(revision));
}

function retireAll(course: Course): void {
  const { next, serving } = course;
  course.next = undefined;
  course.serving = undefined;
  retire(course, next);
  retire(course, serving);
}

/** The next revision takes over when it is complete, or when nothing else serves. */
function advance(course: Course): void {
  const { next, serving } = course;
  const ready = next?.seats.length ?? 0;
  if (next && ready > 0 && (ready >= next.target || !serving || serving.seats.length === 0)) {
    course.serving = next;
    course.next = undefined;
    retire(course, serving);
  }
  if (!course.ended) tell(course);
}

function tell(course: Course): void {
  const { serving, kept } = course;
  if (kept?.revision !== serving || kept?.replicas !== serving?.target) {
    course.kept = serving && { revision: serving, replicas: serving.target };
    course.keep(serving && { spec: serving.spec, replicas: serving.target });
  }
  const now = JSON.stringify(stateOf(course));
  if (now === course.told) return;
  course.told = now;
  course.changed();
}

function stateOf({ serving, next, replicas }: Course): WorkloadState {
  const count = serving?.seats.length ?? 0;
  const failure = (next ?? serving)?.failure;
  return {
    serving: count,
    ...(serving && count > 0 ? servedBy(serving.spec) : {}),
    current: !next && count >= replicas,
    ...(failure ? { failure } : {}),
  };
}

function servedBy({ imageRef, sourceDigest }: WorkloadSpec): Partial<WorkloadState> {
  return { servingImageRef: imageRef, servingSourceDigest: sourceDigest };
}

function isMadeOf(revision: Revision, spec: WorkloadSpec, secrets: string): boolean {
  if (revision.secrets !== secrets) return false;
  return revision.spec === spec || specDigest(revision.spec) === specDigest(spec);
}

/** Equal for equal specs, whatever the order of their maps. */
function specDigest(spec: WorkloadSpec): string {
  const secretEnv = Object.entries(spec.secretEnv).map(([name, { secret, key }]) => [name, secret, key] as const);
  return hashFields([
    spec.imageRef,
    spec.entrypoint,
    String(spec.memoryMB),
    String(spec.timeoutSec),
    JSON.stringify(Object.entries(spec.env).toSorted(byName)),
    JSON.stringify(secretEnv.toSorted(byName)),
  ]);
}

function byName([a]: readonly [string, ...unknown[]], [b]: readonly [string, ...unknown[]]): number {
  return a < b ? -1 : 1;
}
