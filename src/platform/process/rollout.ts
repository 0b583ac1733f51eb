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
export function openRollout(options: RolloutOptions): Rollout {
  const course: Course = {
    ...options,
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
    apply(spec, wanted) {
      course.replicas = wanted;
      if (wanted > 0) aim(course, spec);
      else retireAll(course);
      advance(course);
      return stateOf(course);
    },
    resume({ spec, replicas }) {
      course.replicas = replicas;
      course.serving = open(course, spec);
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

function open(course: Course, spec: WorkloadSpec): Revision {
  const { workload, log, deps } = course;
  const digest = specDigest(spec).slice(0, 6);
  const nextName = () => `${workload.name}-${digest}-${++course.started}`;
  return openRevision({ spec, log, deps, nextName, changed: () => advance(course) });
}

function aim(course: Course, spec: WorkloadSpec): void {
  const { serving, replicas } = course;
  if (serving && isEqualSpec(serving.spec, spec)) {
    retire(course, course.next);
    course.next = undefined;
    serving.scale(replicas);
    return;
  }
  if (!course.next || !isEqualSpec(course.next.spec, spec)) {
    retire(course, course.next);
    course.next = open(course, spec);
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

function isEqualSpec(a: WorkloadSpec, b: WorkloadSpec): boolean {
  return a === b || specDigest(a) === specDigest(b);
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
