import Type from "typebox";
import { ConditionsSchema } from "./conditions.ts";
import type { Fault, FieldRule, KindDefinition } from "./kind-definition.ts";
import { eventJsonIsJson } from "./trigger.ts";
import {
  EntrypointSchema,
  EnvSchema,
  LocalNameSchema,
  MemorySchema,
  RuntimeNameSchema,
  S3BucketSchema,
  S3KeySchema,
  SecretEnvSchema,
  SourceDirSchema,
  TimeSchema,
} from "./workload-fields.ts";
import { envRules, sourceDirRule } from "./workload-rules.ts";

export const FunctionJobSpecSchema = Type.Object({
  functionRef: Type.Optional(
    Type.String({ ...LocalNameSchema, description: "Run this Function of the same namespace instead of inline code" }),
  ),
  runtime: Type.Optional(RuntimeNameSchema),
  entrypoint: Type.Optional(EntrypointSchema),
  env: Type.Optional(EnvSchema),
  secretEnv: Type.Optional(SecretEnvSchema),
  memoryMB: Type.Optional(MemorySchema),
  timeoutSec: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 900, default: 30, description: "Seconds the run may take" }),
  ),
  sourceDir: Type.Optional(SourceDirSchema),
  s3Bucket: Type.Optional(S3BucketSchema),
  s3Key: Type.Optional(S3KeySchema),
  eventJSON: Type.Optional(Type.String({ maxLength: 262144, description: "JSON text, the handler's event" })),
  runID: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2147483647, default: 0, description: "0 = not run; raise it to run (again)" }),
  ),
});
export type FunctionJobSpec = Type.Static<typeof FunctionJobSpecSchema>;

export const JOB_PHASES = ["Pending", "Skipped", "Building", "Running", "Succeeded", "Failed"] as const;

export const FunctionJobStatusSchema = Type.Object({
  observedGeneration: Type.Optional(Type.Integer()),
  phase: Type.Optional(Type.Enum(JOB_PHASES)),
  jobName: Type.Optional(Type.String()),
  startTime: Type.Optional(TimeSchema),
  completionTime: Type.Optional(TimeSchema),
  imageRef: Type.Optional(Type.String()),
  lastRunID: Type.Optional(Type.Integer()),
  message: Type.Optional(Type.String({ description: "The result, or reason and last lines of the failure" })),
  conditions: Type.Optional(ConditionsSchema),
});
export type FunctionJobStatus = Type.Static<typeof FunctionJobStatusSchema>;

const INLINE_FIELDS = ["runtime", "sourceDir"] as const;

const refOrInline: FieldRule = {
  cel: "has(self.functionRef) != has(self.runtime)",
  message: "a job has either functionRef or runtime",
  faults(spec): Fault[] {
    if (spec.functionRef === undefined && spec.runtime === undefined) {
      return [
        {
          path: ["spec"],
          message: "a job needs either functionRef (run a function) or runtime (code beside the manifest)",
        },
      ];
    }
    if (spec.functionRef === undefined) return [];
    return INLINE_FIELDS.filter((field) => spec[field] !== undefined).map((field) => ({
      path: ["spec", field],
      message: `${field} belongs to inline jobs, this one has functionRef; remove one of them`,
    }));
  },
};

export const functionJobKind = {
  kind: "FunctionJob",
  description: "One run of a function's code, or of code of its own; raising spec.runID runs it again.",
  plural: "functionjobs",
  singular: "functionjob",
  shortNames: ["fnjob"],
  spec: FunctionJobSpecSchema,
  status: FunctionJobStatusSchema,
  rules: [refOrInline, ...envRules, sourceDirRule, eventJsonIsJson],
  scale: false,
  printerColumns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Run", type: "integer", jsonPath: ".status.lastRunID" },
    { name: "Started", type: "date", jsonPath: ".status.startTime", priority: 1 },
    { name: "Completed", type: "date", jsonPath: ".status.completionTime" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
} as const satisfies KindDefinition;
