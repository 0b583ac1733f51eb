import {
  ANNOTATIONS,
  type ConditionUpdate,
  conditionsAfter,
  findCondition,
  type ObjectOf,
  ownerUidOf,
  WORKLOAD_CONDITIONS,
  type WorkloadStatus,
} from "../apis/index.ts";
import type { BuildState } from "../build/index.ts";
import type { WorkloadState } from "../platform/index.ts";
import { historyAfter, type ServingRevision } from "./revision-history.ts";

/** Everything that decides the status of a Function or Service, seen at one moment. */
export interface WorkloadObservation {
  /** Of the archive that the spec names; undefined while none is stored. */
  readonly sourceDigest: string | undefined;
  /** Effective replicas: 0 also when the function has triggers and all are disabled. */
  readonly replicas: number;
  /** A fault of the object alone, nothing is built or run. */
  readonly fault: { readonly reason: string; readonly message: string } | undefined;
  /** undefined: not asked for, because nothing is to run. */
  readonly build: BuildState | undefined;
  readonly platform: WorkloadState | undefined;
  readonly url: string | undefined;
}

interface Verdict {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/**
 * The status that an observation means. Pure; `now` is RFC 3339. `imageRef`, `sourceDigest` and `url` describe what
 * serves; without replicas they keep what served last.
 */
export function workloadStatus(
  object: ObjectOf<"Function"> | ObjectOf<"Service">,
  seen: WorkloadObservation,
  now: string,
): WorkloadStatus {
  const before = object.status ?? {};
  const build = buildVerdict(seen, before);
  const serving = servingVerdict(seen);
  const ready = readyVerdict(seen, build);
  const phase = phaseOf(seen, ready);
  const built = seen.build?.phase === "built" ? seen.build : undefined;
  const history = historyAfter(before.history, servingRevision(object, seen), now);
  const status: WorkloadStatus = {
    observedGeneration: object.metadata.generation,
    phase,
    imageRef: seen.platform?.servingImageRef ?? before.imageRef,
    sourceDigest: seen.platform?.servingSourceDigest ?? before.sourceDigest,
    url: seen.url,
    replicas: seen.platform?.serving ?? 0,
    message: ready.status === "True" ? "" : ready.message,
    lastBuiltAt: built && !built.reused ? built.builtAt.toISOString() : before.lastBuiltAt,
    buildDuration: built && !built.reused ? seconds(built.durationMs) : before.buildDuration,
    history: history.length > 0 ? [...history] : undefined,
    conditions: conditionsAfter(
      before.conditions,
      conditionUpdates(object, { seen, build, serving, ready, phase }),
      now,
    ),
  };
  return withoutUndefined(status);
}

/** The annotations name the commit of the source that is wanted: of another one that serves no commit is known. */
function servingRevision(
  object: ObjectOf<"Function"> | ObjectOf<"Service">,
  { platform, sourceDigest: wanted }: WorkloadObservation,
): ServingRevision | undefined {
  const { servingImageRef: imageRef, servingSourceDigest: sourceDigest } = platform ?? {};
  if (imageRef === undefined || sourceDigest === undefined) return undefined;
  const { [ANNOTATIONS.revision]: revision, [ANNOTATIONS.path]: path } = object.metadata.annotations ?? {};
  if (sourceDigest !== wanted || revision === undefined || ownerUidOf(object) === undefined)
    return { sourceDigest, imageRef };
  return { sourceDigest, imageRef, revision, ...(path === undefined ? {} : { path }) };
}

function conditionUpdates(
  object: { metadata: { generation: number } },
  verdicts: { seen: WorkloadObservation; build: Verdict; serving: Verdict; ready: Verdict; phase: string },
): ConditionUpdate[] {
  const { seen, build, serving, ready, phase } = verdicts;
  const of = (type: string, verdict: Verdict): ConditionUpdate => ({
    type,
    ...verdict,
    observedGeneration: object.metadata.generation,
  });
  const updates = [
    of(WORKLOAD_CONDITIONS.sourceReady, sourceVerdict(seen)),
    of(WORKLOAD_CONDITIONS.buildReady, build),
    of(WORKLOAD_CONDITIONS.serving, serving),
    of(WORKLOAD_CONDITIONS.ready, ready),
  ];
  if (phase === "Building" || phase === "Pending") {
    updates.push(of("Reconciling", { status: "True", reason: "Progressing", message: ready.message }));
  }
  if (phase === "Failed") updates.push(of("Stalled", { status: "True", reason: ready.reason, message: ready.message }));
  return updates;
}

function sourceVerdict(seen: WorkloadObservation): Verdict {
  if (seen.sourceDigest === undefined) {
    return { status: "False", reason: "WaitingForSource", message: "No source is stored yet; push or upload it." };
  }
  return { status: "True", reason: "Stored", message: `sha256:${seen.sourceDigest}` };
}

function buildVerdict(seen: WorkloadObservation, before: WorkloadStatus): Verdict {
  if (seen.fault) return { status: "False", ...seen.fault };
  switch (seen.build?.phase) {
    case "built":
      return { status: "True", reason: "Built", message: seen.build.imageRef };
    case "building":
      return { status: "False", reason: "Building", message: seen.build.step };
    case "failed":
      return { status: "False", reason: seen.build.reason, message: seen.build.message };
    default:
      return unbuiltVerdict(seen, before);
  }
}

function unbuiltVerdict(seen: WorkloadObservation, before: WorkloadStatus): Verdict {
  if (seen.sourceDigest === undefined)
    return { status: "Unknown", reason: "WaitingForSource", message: "Nothing to build yet." };
  const known = findCondition(before.conditions, WORKLOAD_CONDITIONS.buildReady);
  if (known?.status === "True" && before.sourceDigest === seen.sourceDigest) {
    return { status: "True", reason: known.reason, message: known.message };
  }
  return { status: "Unknown", reason: "ScaledToZero", message: "It is built when it is scaled up." };
}

function servingVerdict(seen: WorkloadObservation): Verdict {
  const serving = seen.platform?.serving ?? 0;
  if (serving > 0)
    return {
      status: "True",
      reason: "Serving",
      message: `${serving} of ${Math.max(serving, seen.replicas)} replicas serve`,
    };
  if (seen.fault) return { status: "False", ...seen.fault };
  if (seen.replicas === 0)
    return { status: "False", reason: "ScaledToZero", message: "It has no replicas on purpose." };
  if (seen.build?.phase === "failed")
    return { status: "False", reason: seen.build.reason, message: seen.build.message };
  if (seen.platform?.failure) return { status: "False", ...seen.platform.failure };
  return { status: "False", reason: "Starting", message: "No replica answers yet." };
}

function readyVerdict(seen: WorkloadObservation, build: Verdict): Verdict {
  if (seen.fault) return { status: "False", ...seen.fault };
  if (seen.sourceDigest === undefined)
    return { status: "False", reason: "WaitingForSource", message: "No source is stored yet; push or upload it." };
  if (seen.replicas === 0) return { status: "True", reason: "ScaledToZero", message: "It has no replicas on purpose." };
  if (seen.build?.phase === "failed")
    return { status: "False", reason: seen.build.reason, message: seen.build.message };
  if (seen.build?.phase !== "built")
    return { status: "False", reason: "Progressing", message: `Building: ${build.message}` };
  if (seen.platform?.failure) return { status: "False", ...seen.platform.failure };
  if (!seen.platform?.current) return { status: "False", reason: "Progressing", message: "Starting the new version." };
  return { status: "True", reason: "Ready", message: "This version serves." };
}

function phaseOf(seen: WorkloadObservation, ready: Verdict): NonNullable<WorkloadStatus["phase"]> {
  if (ready.status === "True") return "Ready";
  if (seen.fault || seen.build?.phase === "failed") return "Failed";
  if (seen.build?.phase === "building") return "Building";
  // While the next version is built, a failure of the platform is that of an earlier one.
  return seen.build?.phase === "built" && seen.platform?.failure ? "Failed" : "Pending";
}

/** Milliseconds as people read them: `1.2s`, `45ms`. */
export function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)}ms` : `${(milliseconds / 1000).toFixed(1)}s`;
}

/** Absent fields are left out, so that equal statuses are equal as JSON. */
export function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
