import Type from "typebox";
import { ConditionsSchema } from "./conditions.ts";
import type { Fault, FieldRule, KindDefinition } from "./kind-definition.ts";
import { SecretRefSchema, TimeSchema } from "./workload-fields.ts";
import { isEscapingPath } from "./workload-rules.ts";

/** Go-style durations of hours, minutes and seconds: `30s`, `1m`, `1h30m`. */
export const DURATION_PATTERN = "^([0-9]+h([0-9]+m)?([0-9]+s)?|[0-9]+m([0-9]+s)?|[0-9]+s)$";
const DurationSchema = (fallback: string, description: string) =>
  Type.String({ pattern: DURATION_PATTERN, maxLength: 20, default: fallback, description });

/** Milliseconds of a duration like `1h30m`; the value has passed the schema. */
export function durationMs(text: string): number {
  const units = { h: 3_600_000, m: 60_000, s: 1_000 } as const;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)([hms])/g))
    total += Number(amount) * units[unit as keyof typeof units];
  return total;
}

export const RefSchema = Type.Object(
  {
    branch: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    tag: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    semver: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    commit: Type.Optional(Type.String({ pattern: "^([0-9a-f]{40}|[0-9a-f]{64})$" })),
  },
  { description: "One of branch, tag, semver, commit; none = the default branch" },
);

export const RepositorySpecSchema = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2048, description: "http(s) address; a local path only for sless dev" }),
  ref: Type.Optional(RefSchema),
  path: Type.Optional(
    Type.String({ maxLength: 1024, description: "Folder below the root that is followed; default all" }),
  ),
  interval: Type.Optional(DurationSchema("1m", "How often the repository is looked at without a hint")),
  timeout: Type.Optional(DurationSchema("1m", "How long a fetch may take")),
  secretRef: Type.Optional(SecretRefSchema),
  suspend: Type.Optional(Type.Boolean({ default: false, description: "Fetch and write nothing until it is resumed" })),
  prune: Type.Optional(Type.Boolean({ default: true, description: "Delete what is gone from the repository" })),
  deletionPolicy: Type.Optional(
    Type.Enum(["Orphan", "Delete"], {
      default: "Orphan",
      description: "What becomes of its objects when the Repository is deleted",
    }),
  ),
  deletionGuard: Type.Optional(
    Type.Object(
      {
        maxDeletions: Type.Optional(Type.Integer({ minimum: 0, default: 10 })),
        maxPercent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, default: 50 })),
      },
      { description: "Deletions beyond it wait for an approval" },
    ),
  ),
  writeBack: Type.Optional(
    Type.Object(
      {
        mode: Type.Optional(Type.Enum(["reject", "commit", "pullRequest"], { default: "reject" })),
        branch: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
      },
      { description: "What becomes of writes to its objects through the REST API" },
    ),
  ),
  forge: Type.Optional(
    Type.Object(
      {
        type: Type.Enum(["github", "gitlab", "gitea"]),
        apiURL: Type.Optional(Type.String({ maxLength: 2048 })),
        secretRef: Type.Optional(SecretRefSchema),
      },
      { description: "The forge that the repository is at" },
    ),
  ),
  webhookSecretRef: Type.Optional({
    ...SecretRefSchema,
    description: "Secret whose key token a forge signs webhooks with; without it there is no webhook",
  }),
});
export type RepositorySpec = Type.Static<typeof RepositorySpecSchema>;
export type RefSpec = Type.Static<typeof RefSchema>;

const COUNTS = Type.Object({
  create: Type.Integer(),
  update: Type.Integer(),
  delete: Type.Integer(),
  adopt: Type.Integer(),
  hold: Type.Integer(),
  refuse: Type.Integer(),
  leave: Type.Integer(),
  wait: Type.Integer(),
  unchanged: Type.Integer(),
});

/** One fault of the user's repository; line and column start at 1 and are left out when no place is known. */
export const DiagnosticSchema = Type.Object({
  code: Type.String(),
  file: Type.String(),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  message: Type.String(),
});
export type Diagnostic = Type.Static<typeof DiagnosticSchema>;

export const RepositoryStatusSchema = Type.Object({
  observedGeneration: Type.Optional(Type.Integer()),
  conditions: Type.Optional(ConditionsSchema),
  lastFetchedRevision: Type.Optional(Type.String()),
  lastAttemptedRevision: Type.Optional(Type.String()),
  lastAppliedRevision: Type.Optional(Type.String()),
  inventory: Type.Optional(Type.Object({ count: Type.Integer() })),
  plan: Type.Optional(
    Type.Object({
      revision: Type.String(),
      counts: COUNTS,
      /** The first 100 actions that are not `unchanged`, one line each. */
      actions: Type.Array(Type.String(), { maxItems: 100 }),
    }),
  ),
  diagnostics: Type.Optional(
    Type.Object({ count: Type.Integer(), items: Type.Array(DiagnosticSchema, { maxItems: 100 }) }),
  ),
  history: Type.Optional(
    Type.Array(
      Type.Object({
        revision: Type.String(),
        time: TimeSchema,
        outcome: Type.String(),
        message: Type.Optional(Type.String()),
      }),
      { maxItems: 5 },
    ),
  ),
  lastHandledReconcileAt: Type.Optional(Type.String()),
  /** Where webhooks are taken, below the address of the REST API; only with a `webhookSecretRef`. */
  webhookPath: Type.Optional(Type.String()),
});
export type RepositoryStatus = Type.Static<typeof RepositoryStatusSchema>;

/** Where a forge sends its webhooks for a repository; undefined without a `webhookSecretRef`. */
export function webhookPathOf({
  metadata,
  spec,
}: {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: Pick<RepositorySpec, "webhookSecretRef">;
}): string | undefined {
  return spec.webhookSecretRef && `/hooks/${metadata.namespace}/${metadata.name}`;
}

/** At most this many diagnostics and plan lines go into the status; the count beside them is of all. */
export const STATUS_LIST_MAX = 100;

const oneRef: FieldRule = {
  cel: "!has(self.ref) || [has(self.ref.branch), has(self.ref.tag), has(self.ref.semver), has(self.ref.commit)].filter(given, given).size() <= 1",
  message: "ref names one of branch, tag, semver, commit",
  faults(spec): Fault[] {
    const given = Object.keys((spec.ref as object | undefined) ?? {});
    return given.length <= 1
      ? []
      : [{ path: ["spec", "ref"], message: `names ${given.join(" and ")}; keep one of them` }];
  },
};

const pathWithin: FieldRule = {
  cel: "!has(self.path) || (!self.path.startsWith('/') && !self.path.split('/').exists(part, part == '..' || part == '.git'))",
  message: "path must stay below the repository's root, and out of .git",
  faults({ path }): Fault[] {
    if (typeof path !== "string" || !isEscapingPath(path)) return [];
    return [
      { path: ["spec", "path"], message: "leaves the repository, or is Git's own; name a folder below its root" },
    ];
  },
};

/** With no time at all every look fails. */
const someTimeout: FieldRule = {
  cel: "!has(self.timeout) || self.timeout.matches('[1-9]')",
  message: "timeout must be longer than nothing",
  faults({ timeout }): Fault[] {
    if (typeof timeout !== "string" || durationMs(timeout) > 0) return [];
    return [{ path: ["spec", "timeout"], message: "leaves no time to answer; write for example 1m" }];
  },
};

/** Looking again and again without a pause is no use to anybody; the shortest interval is a second. */
const someInterval: FieldRule = {
  cel: "!has(self.interval) || self.interval.matches('[1-9]')",
  message: "interval must be at least 1s",
  faults({ interval }): Fault[] {
    if (typeof interval !== "string" || durationMs(interval) > 0) return [];
    return [{ path: ["spec", "interval"], message: "leaves no time between two looks; write at least 1s" }];
  },
};

/** Rules that judge one field each. */
export const repositoryFieldRules: readonly FieldRule[] = [pathWithin, someTimeout, someInterval];

export const repositoryKind = {
  kind: "Repository",
  description: "A Git repository whose manifests become the objects of this namespace, with every push.",
  plural: "repositories",
  singular: "repository",
  shortNames: ["repo"],
  spec: RepositorySpecSchema,
  status: RepositoryStatusSchema,
  rules: [oneRef, ...repositoryFieldRules],
  scale: false,
  printerColumns: [
    { name: "URL", type: "string", jsonPath: ".spec.url" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Status", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { name: "Applied", type: "string", jsonPath: ".status.lastAppliedRevision", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
} as const satisfies KindDefinition;
