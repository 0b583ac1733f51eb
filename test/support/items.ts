import type { JobItem, RepositoryItem, TriggerItem, WorkloadItem } from "../../src/server/client.ts";

const common = {
  namespace: "default",
  created_at: "2024-01-01T00:00:00Z",
  deleting: false,
  repository: { name: "example", path: "functions/hello/function.yaml", revision: `main@sha1:${"a".repeat(40)}` },
  conditions: [],
};

/** A function or service as the REST API tells it. */
export function workloadItem(name: string, fields: Partial<WorkloadItem> = {}): WorkloadItem {
  return {
    ...common,
    name,
    runtime: "python3.11",
    entrypoint: "handler.handle",
    memory_mb: 128,
    timeout_sec: 30,
    env_vars: {},
    secret_env_vars: {},
    replicas: 1,
    s3_key: undefined,
    phase: "Ready",
    ready: true,
    serving_replicas: 1,
    image_ref: undefined,
    source_digest: "0123456789abcdef".repeat(4),
    message: undefined,
    last_built_at: undefined,
    history: [],
    url: `http://127.0.0.1:9090/fn/default/${name}`,
    ...fields,
  };
}

export function jobItem(name: string, fields: Partial<JobItem> = {}): JobItem {
  return {
    ...common,
    name,
    function_ref: undefined,
    runtime: "python3.11",
    entrypoint: "handler.handle",
    memory_mb: 128,
    timeout_sec: 30,
    env_vars: {},
    secret_env_vars: {},
    s3_key: undefined,
    event_json: undefined,
    run_id: 1,
    last_run_id: 1,
    phase: "Succeeded",
    job_name: `${name}-1`,
    start_time: "2024-01-01T00:00:01Z",
    completion_time: "2024-01-01T00:00:02Z",
    image_ref: undefined,
    message: "done",
    ...fields,
  };
}

export function triggerItem(name: string, fields: Partial<TriggerItem> = {}): TriggerItem {
  return {
    ...common,
    name,
    type: "http",
    function_ref: "hello",
    enabled: true,
    active: true,
    url: undefined,
    schedule: undefined,
    time_zone: undefined,
    event_json: undefined,
    concurrency_policy: undefined,
    pre_warm_seconds: undefined,
    queue: undefined,
    prefetch: undefined,
    max_retries: undefined,
    last_schedule_time: undefined,
    next_schedule_time: undefined,
    ...fields,
  };
}

export function repositoryItem(name: string, fields: Partial<RepositoryItem> = {}): RepositoryItem {
  return {
    ...common,
    repository: undefined,
    name,
    url: "/srv/example.git",
    ref: {},
    path: undefined,
    interval: "1m",
    timeout: "1m",
    secret_ref: undefined,
    webhook_secret_ref: undefined,
    webhook_path: undefined,
    deletion_policy: "Orphan",
    deletion_guard: undefined,
    suspend: false,
    prune: true,
    ready: true,
    message: undefined,
    objects: 3,
    diagnostics: 0,
    last_fetched_revision: undefined,
    last_attempted_revision: undefined,
    last_applied_revision: `main@sha1:${"b".repeat(40)}`,
    ...fields,
  };
}
