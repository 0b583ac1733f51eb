import type { Kind } from "../apis/index.ts";

/** Fields of the REST API, each with its name in the spec. */
export type FieldNames = Readonly<Record<string, string>>;

const PROGRAM = {
  runtime: "runtime",
  entrypoint: "entrypoint",
  memory_mb: "memoryMB",
  timeout_sec: "timeoutSec",
  env_vars: "env",
  secret_env_vars: "secretEnv",
};
const WORKLOAD = { ...PROGRAM, replicas: "replicas" };

/** What a client may write. */
export const WRITABLE_FIELDS: Readonly<Record<Kind, FieldNames>> = {
  Function: WORKLOAD,
  Service: WORKLOAD,
  FunctionJob: { ...PROGRAM, function_ref: "functionRef", event_json: "eventJSON", run_id: "runID" },
  Trigger: {
    type: "type",
    function_ref: "functionRef",
    enabled: "enabled",
    schedule: "schedule",
    time_zone: "timeZone",
    event_json: "eventJSON",
    concurrency_policy: "concurrencyPolicy",
    pre_warm_seconds: "preWarmSeconds",
    queue: "queue",
    prefetch: "prefetch",
    max_retries: "maxRetries",
  },
  Repository: {
    url: "url",
    ref: "ref",
    path: "path",
    interval: "interval",
    timeout: "timeout",
    secret_ref: "secretRef",
    webhook_secret_ref: "webhookSecretRef",
    suspend: "suspend",
    prune: "prune",
    deletion_policy: "deletionPolicy",
    deletion_guard: "deletionGuard",
  },
};

/** Fields within a field, by the name of the latter in the spec. */
export const INNER_FIELDS: Readonly<Record<string, FieldNames>> = {
  deletionGuard: { max_deletions: "maxDeletions", max_percent: "maxPercent" },
};

/** What sless writes after the bytes are stored: a request may only repeat the present value. */
export const STORED_FIELDS: FieldNames = { s3_key: "s3Key", s3_bucket: "s3Bucket" };

/** What a replacing write keeps: where a source is belongs to the present source, the others have no field of their own. */
export const KEPT_FIELDS = ["s3Bucket", "s3Key", "sourceDir", "writeBack", "forge"] as const;

const TOLD_OF_ALL = ["created_at", "deleting", "repository", "conditions", "phase", "message", "url"];
const TOLD_OF_PROGRAMS = [...TOLD_OF_ALL, "image_ref", "source_digest"];
const TOLD_OF_WORKLOADS = [...TOLD_OF_PROGRAMS, "ready", "serving_replicas", "last_built_at", "history"];

/** What an answer tells beside them. Whoever sends back what was read sends it too: it is taken and says nothing. */
export const TOLD_FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  Function: TOLD_OF_WORKLOADS,
  Service: TOLD_OF_WORKLOADS,
  FunctionJob: [...TOLD_OF_PROGRAMS, "last_run_id", "job_name", "start_time", "completion_time", "message_truncated"],
  Trigger: [...TOLD_OF_ALL, "active", "last_schedule_time", "next_schedule_time"],
  Repository: [
    ...TOLD_OF_ALL.filter((field) => field !== "url"),
    ...["ready", "objects", "diagnostics", "webhook_path"],
    ...["last_fetched_revision", "last_attempted_revision", "last_applied_revision"],
  ],
};

/** Name of a spec's field in the REST API; fields that it does not have keep theirs. */
export function restName(kind: Kind, field: string): string {
  const names = Object.entries({ ...WRITABLE_FIELDS[kind], ...STORED_FIELDS });
  return names.find(([, specName]) => specName === field)?.[0] ?? field;
}
