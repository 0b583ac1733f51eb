import {
  ANNOTATIONS,
  APPLIED,
  findCondition,
  isTrue,
  type ObjectOf,
  ownerUidOf,
  type SpecOf,
  type WorkloadKind,
  type WorkloadRevision,
  type WorkloadStatus,
  webhookPathOf,
} from "../apis/index.ts";
import { withoutCredentials } from "../errors/index.ts";
import type {
  CommonItem,
  ConditionItem,
  ItemOf,
  JobItem,
  PLURALS,
  Plural,
  RepositoryItem,
  RevisionItem,
  TriggerItem,
  WorkloadItem,
} from "./items.ts";
import { isMessageTruncated } from "./listed-status.ts";

type KindOf<P extends Plural> = (typeof PLURALS)[P];
type ObjectOfPlural<P extends Plural> = ObjectOf<KindOf<P>>;

/** Names of Repository objects by their UID. */
export type RepositoryNames = ReadonlyMap<string, string>;

/** An object in the fields of the REST API. Pure. */
export function toItem<P extends Plural>(
  plural: P,
  object: ObjectOfPlural<P>,
  repositories: RepositoryNames,
): ItemOf[P] {
  const convert = CONVERTERS[plural] as (object: ObjectOfPlural<P>, common: CommonItem) => ItemOf[P];
  return convert(object, commonOf(object, repositories));
}

const CONVERTERS: { [P in Plural]: (object: ObjectOfPlural<P>, common: CommonItem) => ItemOf[P] } = {
  functions: workloadItem,
  services: workloadItem,
  jobs: jobItem,
  triggers: triggerItem,
  repositories: repositoryItem,
};

function commonOf(object: ObjectOf<KindOf<Plural>>, repositories: RepositoryNames): CommonItem {
  const { namespace, name, creationTimestamp, deletionTimestamp, annotations } = object.metadata;
  const owner = ownerUidOf(object);
  return {
    namespace,
    name,
    created_at: creationTimestamp,
    deleting: deletionTimestamp !== undefined,
    repository:
      owner === undefined
        ? undefined
        : {
            name: repositories.get(owner) ?? owner,
            path: annotations?.[ANNOTATIONS.path],
            revision: annotations?.[ANNOTATIONS.revision],
          },
    conditions: (object.status?.conditions ?? []).map(
      ({ type, status, reason, message, lastTransitionTime }): ConditionItem => ({
        type,
        status,
        reason,
        message,
        last_transition_time: lastTransitionTime,
      }),
    ),
  };
}

/** Ready, and of the present spec: an older generation's Ready says nothing of it. */
function isReady(object: ObjectOf<"Function" | "Service" | "Repository">): boolean {
  return object.status?.observedGeneration === object.metadata.generation && isTrue(object, "Ready");
}

function workloadItem(object: ObjectOf<"Function" | "Service">, common: CommonItem): WorkloadItem {
  const { spec, status = {} } = object;
  return {
    ...common,
    runtime: spec.runtime,
    ...programFields(spec),
    replicas: spec.replicas,
    s3_key: spec.s3Key,
    phase: status.phase ?? "Pending",
    ready: isReady(object),
    serving_replicas: status.replicas ?? 0,
    image_ref: status.imageRef,
    source_digest: status.sourceDigest,
    message: messageOf(status),
    last_built_at: status.lastBuiltAt,
    url: status.url,
    history: (status.history ?? []).map(revisionItem),
  };
}

/** What it says of itself, else what its repository wants of it and does not get. */
function messageOf({ message, conditions }: WorkloadStatus): string | undefined {
  return message || (findCondition(conditions, APPLIED)?.message ?? message);
}

export function revisionItem({
  number,
  sourceDigest,
  imageRef,
  revision,
  path,
  servedAt,
}: WorkloadRevision): RevisionItem {
  return { number, source_digest: sourceDigest, image_ref: imageRef, revision, path, served_at: servedAt };
}

/** How the code of a workload is called and what it is given, the same for functions, services and jobs. */
function programFields(spec: SpecOf<WorkloadKind>) {
  return {
    entrypoint: spec.entrypoint,
    memory_mb: spec.memoryMB,
    timeout_sec: spec.timeoutSec,
    env_vars: spec.env ?? {},
    secret_env_vars: spec.secretEnv ?? {},
  };
}

function jobItem(object: ObjectOf<"FunctionJob">, common: CommonItem): JobItem {
  const { spec, status = {} } = object;
  return {
    ...common,
    function_ref: spec.functionRef,
    runtime: spec.runtime,
    ...programFields(spec),
    s3_key: spec.s3Key,
    event_json: spec.eventJSON,
    run_id: spec.runID ?? 0,
    last_run_id: status.lastRunID,
    phase: status.phase ?? "Pending",
    job_name: status.jobName,
    start_time: status.startTime,
    completion_time: status.completionTime,
    image_ref: status.imageRef,
    message: status.message,
    ...(isMessageTruncated(object) && { message_truncated: true }),
  };
}

function triggerItem({ spec, status = {} }: ObjectOf<"Trigger">, common: CommonItem): TriggerItem {
  return {
    ...common,
    type: spec.type,
    function_ref: spec.functionRef,
    enabled: spec.enabled !== false,
    active: status.active ?? false,
    url: status.url,
    schedule: spec.schedule,
    time_zone: spec.timeZone,
    event_json: spec.eventJSON,
    concurrency_policy: spec.concurrencyPolicy,
    pre_warm_seconds: spec.preWarmSeconds,
    queue: spec.queue,
    prefetch: spec.prefetch,
    max_retries: spec.maxRetries,
    last_schedule_time: status.lastScheduleTime,
    next_schedule_time: status.nextScheduleTime,
  };
}

function repositoryItem(object: ObjectOf<"Repository">, common: CommonItem): RepositoryItem {
  const { spec, status = {} } = object;
  const guard = spec.deletionGuard;
  return {
    ...common,
    url: withoutCredentials(spec.url),
    ref: { ...spec.ref },
    path: spec.path,
    interval: spec.interval,
    timeout: spec.timeout,
    secret_ref: spec.secretRef,
    webhook_secret_ref: spec.webhookSecretRef,
    webhook_path: webhookPathOf(object),
    suspend: spec.suspend ?? false,
    prune: spec.prune !== false,
    deletion_policy: spec.deletionPolicy,
    deletion_guard: guard && {
      ...(guard.maxDeletions !== undefined && { max_deletions: guard.maxDeletions }),
      ...(guard.maxPercent !== undefined && { max_percent: guard.maxPercent }),
    },
    ready: isReady(object),
    message: common.conditions.find(({ type }) => type === "Ready")?.message,
    objects: status.inventory?.count ?? 0,
    diagnostics: status.diagnostics?.count ?? 0,
    last_fetched_revision: status.lastFetchedRevision,
    last_attempted_revision: status.lastAttemptedRevision,
    last_applied_revision: status.lastAppliedRevision,
  };
}

export function repositoryNames(repositories: readonly ObjectOf<"Repository">[]): RepositoryNames {
  return new Map(repositories.map(({ metadata }) => [metadata.uid, metadata.name]));
}
