import Type from "typebox";
import { ConditionsSchema } from "./conditions.ts";
import type { KindDefinition } from "./kind-definition.ts";
import {
  EntrypointSchema,
  EnvSchema,
  MemorySchema,
  PHASES,
  ReplicasSchema,
  RuntimeNameSchema,
  S3BucketSchema,
  S3KeySchema,
  SecretEnvSchema,
  SourceDirSchema,
  TimeSchema,
} from "./workload-fields.ts";
import { envRules, sourceDirRule } from "./workload-rules.ts";

const WorkloadSpecFields = {
  runtime: RuntimeNameSchema,
  entrypoint: Type.Optional(EntrypointSchema),
  memoryMB: Type.Optional(MemorySchema),
  env: Type.Optional(EnvSchema),
  secretEnv: Type.Optional(SecretEnvSchema),
  replicas: Type.Optional(ReplicasSchema),
  sourceDir: Type.Optional(SourceDirSchema),
  s3Bucket: Type.Optional(S3BucketSchema),
  s3Key: Type.Optional(S3KeySchema),
};

export const FunctionSpecSchema = Type.Object({
  ...WorkloadSpecFields,
  timeoutSec: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 900, default: 30, description: "Seconds a call may take" }),
  ),
});
export type FunctionSpec = Type.Static<typeof FunctionSpecSchema>;

export const ServiceSpecSchema = Type.Object({
  ...WorkloadSpecFields,
  timeoutSec: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 900, default: 0, description: "Seconds a call may take; 0 = no limit" }),
  ),
});
export type ServiceSpec = Type.Static<typeof ServiceSpecSchema>;

/** Revisions that a status remembers, and whose sources and images are kept. */
export const REVISIONS_MAX = 10;

/** What served at some time. A revision is a source and the image made of it; other fields of the spec make none. */
export const WorkloadRevisionSchema = Type.Object({
  number: Type.Integer({ minimum: 1, description: "Grows with each revision that begins to serve" }),
  sourceDigest: Type.String(),
  imageRef: Type.String(),
  revision: Type.Optional(
    Type.String({ description: "Revision of the repository that last wrote it, main@sha1:<hex>" }),
  ),
  path: Type.Optional(Type.String({ description: "Manifest in the repository" })),
  servedAt: TimeSchema,
});
export type WorkloadRevision = Type.Static<typeof WorkloadRevisionSchema>;

/**
 * Status of a Function or Service. `imageRef`, `sourceDigest` and `url` describe what serves, also while a
 * newer version fails (`phase` Failed, `Ready`=False, `Serving`=True).
 */
export const WorkloadStatusSchema = Type.Object({
  observedGeneration: Type.Optional(Type.Integer()),
  phase: Type.Optional(Type.Enum(PHASES, { description: "Where the newest version is" })),
  imageRef: Type.Optional(Type.String({ description: "Image that serves, by digest" })),
  sourceDigest: Type.Optional(Type.String({ description: "Digest of the source that serves" })),
  url: Type.Optional(Type.String({ description: "Where it answers; missing while nothing leads there" })),
  replicas: Type.Optional(Type.Integer({ description: "Replicas that serve" })),
  selector: Type.Optional(Type.String({ description: "Label selector of the replicas, for the scale subresource" })),
  message: Type.Optional(Type.String({ description: "What is wrong or under way; empty when all is well" })),
  lastBuiltAt: Type.Optional(TimeSchema),
  buildDuration: Type.Optional(Type.String({ description: "How long the last build took, 1.2s" })),
  history: Type.Optional(
    Type.Array(WorkloadRevisionSchema, {
      maxItems: REVISIONS_MAX,
      description: "What served, the newest first; each source and image once",
    }),
  ),
  conditions: Type.Optional(ConditionsSchema),
});
export type WorkloadStatus = Type.Static<typeof WorkloadStatusSchema>;

/** Conditions of a Function and a Service; each is always there once the object was seen. */
export const WORKLOAD_CONDITIONS = {
  /** True: the archive of the source is stored and named by `spec.s3Key`. */
  sourceReady: "SourceReady",
  /** True: the image of the present source exists. False: building or failed, the reason tells. */
  buildReady: "BuildReady",
  /** True: at least one replica answers calls, of this or an earlier version. */
  serving: "Serving",
  /** True: the present generation serves, or is scaled to zero on purpose. */
  ready: "Ready",
} as const;

const printerColumns = [
  { name: "Runtime", type: "string", jsonPath: ".spec.runtime" },
  { name: "Phase", type: "string", jsonPath: ".status.phase" },
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Revision", type: "string", jsonPath: ".metadata.annotations.sless\\.kube5s\\.ru/revision", priority: 1 },
  { name: "URL", type: "string", jsonPath: ".status.url", priority: 1 },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
] as const;

export const functionKind = {
  kind: "Function",
  description:
    "Code that answers calls. It is reached from outside while an enabled http Trigger names it, and called by cron Triggers.",
  plural: "functions",
  singular: "function",
  shortNames: ["fn"],
  spec: FunctionSpecSchema,
  status: WorkloadStatusSchema,
  rules: [...envRules, sourceDirRule],
  scale: true,
  printerColumns,
} as const satisfies KindDefinition;

export const serviceKind = {
  kind: "Service",
  description: "A function that is always on: it is reached from outside without a Trigger.",
  plural: "services",
  singular: "service",
  shortNames: ["svc-fn"],
  spec: ServiceSpecSchema,
  status: WorkloadStatusSchema,
  rules: [...envRules, sourceDirRule],
  scale: true,
  printerColumns,
} as const satisfies KindDefinition;
