import type { AnyObject, Diagnostic, RepositoryStatus } from "../apis/index.ts";

/** Kinds as REST names them. */
export const PLURALS = {
  functions: "Function",
  services: "Service",
  jobs: "FunctionJob",
  triggers: "Trigger",
  repositories: "Repository",
} as const;
export type Plural = keyof typeof PLURALS;

/** Those of them that have code, and output. */
export const CODE_PLURALS = ["functions", "services", "jobs"] as const satisfies readonly Plural[];
export type CodePlural = (typeof CODE_PLURALS)[number];
/** Those of them that are called, and have a history. */
export const CALLED_PLURALS = ["functions", "services"] as const satisfies readonly Plural[];

export type { GarbageCount, GarbageItem, GarbageReport } from "../garbage/index.ts";

/** The repository that an object came from. */
export interface Origin {
  /** Name of the Repository object; its UID when that object is gone. */
  readonly name: string;
  readonly path: string | undefined;
  readonly revision: string | undefined;
}

export interface ConditionItem {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly last_transition_time: string;
}

/** What every object tells; times are RFC 3339. Fields without a value are left out of the JSON. */
export interface CommonItem {
  readonly namespace: string;
  readonly name: string;
  readonly created_at: string;
  /** True while it is being deleted. */
  readonly deleting: boolean;
  /** Owned by a repository; undefined for objects that nobody owns. */
  readonly repository: Origin | undefined;
  readonly conditions: readonly ConditionItem[];
}

type SecretRefs = Readonly<Record<string, { readonly secret: string; readonly key: string }>>;

/** What served at some time: a source and the image made of it. */
export interface RevisionItem {
  /** The latest that began to serve has the highest. */
  readonly number: number;
  readonly source_digest: string;
  readonly image_ref: string;
  /** Of the repository; left out for what was uploaded. */
  readonly revision: string | undefined;
  /** Manifest in the repository. */
  readonly path: string | undefined;
  readonly served_at: string;
}

/** A revision, and whether what it is made of is still there; undefined where that cannot be known. */
export interface KeptRevisionItem extends RevisionItem {
  readonly source_present: boolean | undefined;
  readonly image_present: boolean | undefined;
}

/** A Function or Service. `image_ref`, `source_digest` and `url` describe what serves. */
export interface WorkloadItem extends CommonItem {
  readonly runtime: string;
  readonly entrypoint: string | undefined;
  readonly memory_mb: number | undefined;
  readonly timeout_sec: number | undefined;
  readonly env_vars: Readonly<Record<string, string>>;
  readonly secret_env_vars: SecretRefs;
  readonly replicas: number | undefined;
  readonly s3_key: string | undefined;
  readonly phase: string;
  readonly ready: boolean;
  readonly serving_replicas: number;
  readonly image_ref: string | undefined;
  readonly source_digest: string | undefined;
  readonly message: string | undefined;
  readonly last_built_at: string | undefined;
  readonly url: string | undefined;
  /** What served, the newest first. */
  readonly history: readonly RevisionItem[];
}

export interface JobItem extends CommonItem {
  readonly function_ref: string | undefined;
  readonly runtime: string | undefined;
  readonly entrypoint: string | undefined;
  readonly memory_mb: number | undefined;
  readonly timeout_sec: number | undefined;
  readonly env_vars: Readonly<Record<string, string>>;
  readonly secret_env_vars: SecretRefs;
  readonly s3_key: string | undefined;
  readonly event_json: string | undefined;
  readonly run_id: number;
  readonly last_run_id: number | undefined;
  readonly phase: string;
  readonly job_name: string | undefined;
  readonly start_time: string | undefined;
  readonly completion_time: string | undefined;
  readonly image_ref: string | undefined;
  /** The result, or why there is none; in a list its first KiB. */
  readonly message: string | undefined;
  /** In a list: the job itself tells more of its message. */
  readonly message_truncated?: true;
}

export interface TriggerItem extends CommonItem {
  readonly type: string;
  readonly function_ref: string;
  readonly enabled: boolean;
  readonly active: boolean;
  readonly url: string | undefined;
  readonly schedule: string | undefined;
  readonly time_zone: string | undefined;
  readonly event_json: string | undefined;
  readonly concurrency_policy: string | undefined;
  readonly pre_warm_seconds: number | undefined;
  readonly queue: string | undefined;
  readonly prefetch: number | undefined;
  readonly max_retries: number | undefined;
  readonly last_schedule_time: string | undefined;
  readonly next_schedule_time: string | undefined;
}

export interface RepositoryItem extends CommonItem {
  /** Without user and password. */
  readonly url: string;
  readonly ref: Readonly<Record<string, string>>;
  readonly path: string | undefined;
  readonly interval: string | undefined;
  readonly timeout: string | undefined;
  readonly secret_ref: { readonly name: string } | undefined;
  readonly webhook_secret_ref: { readonly name: string } | undefined;
  /** Where its webhooks are taken, below the server's address; only with a secret for them. */
  readonly webhook_path: string | undefined;
  readonly suspend: boolean;
  readonly prune: boolean;
  readonly deletion_policy: string | undefined;
  readonly deletion_guard: { readonly max_deletions?: number; readonly max_percent?: number } | undefined;
  readonly ready: boolean;
  readonly message: string | undefined;
  readonly objects: number;
  readonly diagnostics: number;
  readonly last_fetched_revision: string | undefined;
  readonly last_attempted_revision: string | undefined;
  readonly last_applied_revision: string | undefined;
}

export interface ItemOf {
  functions: WorkloadItem;
  services: WorkloadItem;
  jobs: JobItem;
  triggers: TriggerItem;
  repositories: RepositoryItem;
}

/** A secret without its values, which nothing gives back. */
export interface SecretItem {
  readonly namespace: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/** Something that happened to an object of a namespace. */
export interface EventItem {
  readonly type: "Normal" | "Warning";
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
  readonly object: { readonly kind: string; readonly name: string };
  /** RFC 3339. */
  readonly time: string;
}

/** A file of a source: its text, or its bytes in base64. */
export interface SourceFileItem {
  /** Path below the source. */
  readonly name: string;
  /** Of a link its target. */
  readonly content: string;
  /** Only of what is no UTF-8 text. */
  readonly encoding?: "base64";
  /** As Git writes it; only of what is no plain file: 100755 is executable, 120000 a link. */
  readonly mode?: "100755" | "120000";
}

/** Who asks, and where what is his lives. */
export interface Identity {
  readonly subject: string;
  /** Of a token, where its issuer tells them. */
  readonly groups?: readonly string[];
  readonly namespace: string;
  /** How it was proved; `none`: whoever reaches this server may do all. */
  readonly authentication: "none" | "token";
}

/** A deletion that waits for an approval; the UID makes it exact. */
export interface HeldDeletion {
  readonly kind: AnyObject["kind"];
  readonly name: string;
  readonly uid: string;
}

/** What the last sync of a repository planned, found and held. */
export interface RepositoryPlanItem {
  /** Revision of the plan; undefined before the first one. */
  readonly revision: string | undefined;
  readonly counts: NonNullable<RepositoryStatus["plan"]>["counts"] | undefined;
  /** One line each, the first 100. */
  readonly actions: readonly string[];
  readonly diagnostics: { readonly count: number; readonly items: readonly Diagnostic[] };
  /** Every deletion that waits, not only the first 100. */
  readonly held: readonly HeldDeletion[];
}
