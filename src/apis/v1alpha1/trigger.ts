import Type from "typebox";
import { ConditionsSchema } from "./conditions.ts";
import { SCHEDULE_PATTERN, scheduleFault } from "./cron-schedule.ts";
import type { Fault, FieldRule, KindDefinition } from "./kind-definition.ts";
import { LocalNameSchema, TimeSchema } from "./workload-fields.ts";
import { TIME_ZONE_PATTERN, timeZoneFault } from "./zone-offsets.ts";

export const TRIGGER_TYPES = ["http", "cron", "event"] as const;

export const TriggerSpecSchema = Type.Object({
  type: Type.Enum(TRIGGER_TYPES, { description: "What calls the function" }),
  functionRef: Type.String({ ...LocalNameSchema, description: "Name of a Function or Service of the same namespace" }),
  enabled: Type.Optional(Type.Boolean({ default: true, description: "false: it calls nothing" })),
  schedule: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: "cron: minute hour day month weekday, or @hourly and the like",
    }),
  ),
  timeZone: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "cron: IANA name, Europe/Paris; default UTC" }),
  ),
  eventJSON: Type.Optional(Type.String({ maxLength: 262144, description: "cron: JSON text, the handler's event" })),
  concurrencyPolicy: Type.Optional(
    Type.Enum(["Allow", "Forbid"], {
      description: "cron: may a call start while the last one runs; Forbid skips it, default Allow",
    }),
  ),
  preWarmSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3600,
      description: "cron: a target with 0 replicas is started so long before its call and stopped after it",
    }),
  ),
  queue: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: "event: name of the queue" })),
  prefetch: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: "event: messages under way at a time" }),
  ),
  maxRetries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, description: "event: tries after the first one" }),
  ),
});
export type TriggerSpec = Type.Static<typeof TriggerSpecSchema>;

export const TriggerStatusSchema = Type.Object({
  observedGeneration: Type.Optional(Type.Integer()),
  active: Type.Optional(Type.Boolean({ description: "Calls arrive through this trigger now" })),
  url: Type.Optional(Type.String({ description: "http: where the function answers" })),
  lastScheduleTime: Type.Optional(TimeSchema),
  nextScheduleTime: Type.Optional(TimeSchema),
  warm: Type.Optional(
    Type.Boolean({ description: "cron: a target with 0 replicas has one for the coming or the running call" }),
  ),
  conditions: Type.Optional(ConditionsSchema),
});
export type TriggerStatus = Type.Static<typeof TriggerStatusSchema>;

const FIELDS_OF_TYPE = {
  cron: ["schedule", "timeZone", "eventJSON", "concurrencyPolicy", "preWarmSeconds"],
  event: ["queue", "prefetch", "maxRetries"],
} as const;

function requires(type: "cron" | "event", field: string): FieldRule {
  return {
    cel: `self.type != '${type}' || has(self.${field})`,
    message: `a trigger of type ${type} needs ${field}`,
    faults: (spec) =>
      spec.type === type && spec[field] === undefined
        ? [{ path: ["spec"], message: `a trigger of type ${type} needs ${field}; add spec.${field}` }]
        : [],
  };
}

function belongsTo(type: "cron" | "event"): FieldRule {
  const fields = FIELDS_OF_TYPE[type];
  return {
    cel: `self.type == '${type}' || !(${fields.map((field) => `has(self.${field})`).join(" || ")})`,
    message: `${fields.join(", ")} belong to triggers of type ${type}`,
    faults: (spec): Fault[] =>
      spec.type === type
        ? []
        : fields
            .filter((field) => spec[field] !== undefined)
            .map((field) => ({
              path: ["spec", field],
              message: `${field} belongs to triggers of type ${type}, this one is ${String(spec.type)}; remove it or change the type`,
            })),
  };
}

const eventJsonIsJson: FieldRule = {
  message: "eventJSON must be JSON text",
  faults(spec) {
    if (typeof spec.eventJSON !== "string") return [];
    try {
      JSON.parse(spec.eventJSON);
      return [];
    } catch (error) {
      return [{ path: ["spec", "eventJSON"], message: `is no JSON text (${(error as Error).message}); correct it` }];
    }
  },
};

/** A rule of one text field; `pattern` is all that an API server can check of it. */
function textRule(field: string, pattern: string, message: string, faultOf: (text: string) => string | undefined) {
  return {
    cel: `!has(self.${field}) || self.${field}.matches('${pattern}')`,
    message,
    faults(spec): Fault[] {
      const text = spec[field];
      const fault = typeof text === "string" ? faultOf(text) : undefined;
      return fault === undefined ? [] : [{ path: ["spec", field], message: fault }];
    },
  } satisfies FieldRule;
}

/** Rules that judge one field by itself. */
export const triggerFieldRules: readonly FieldRule[] = [
  textRule(
    "schedule",
    SCHEDULE_PATTERN,
    "schedule wants minute hour day month weekday, or @hourly and the like",
    scheduleFault,
  ),
  textRule("timeZone", TIME_ZONE_PATTERN, "timeZone wants an IANA name such as Europe/Paris", timeZoneFault),
  eventJsonIsJson,
];

export { eventJsonIsJson };

export const triggerKind = {
  kind: "Trigger",
  description:
    "What calls a Function or Service of its namespace: HTTP from outside, a schedule, or events of a queue.",
  plural: "triggers",
  singular: "trigger",
  shortNames: ["trg"],
  spec: TriggerSpecSchema,
  status: TriggerStatusSchema,
  rules: [
    requires("cron", "schedule"),
    requires("event", "queue"),
    belongsTo("cron"),
    belongsTo("event"),
    ...triggerFieldRules,
  ],
  scale: false,
  printerColumns: [
    { name: "Type", type: "string", jsonPath: ".spec.type" },
    { name: "Function", type: "string", jsonPath: ".spec.functionRef" },
    { name: "Enabled", type: "boolean", jsonPath: ".spec.enabled" },
    { name: "Active", type: "boolean", jsonPath: ".status.active" },
    { name: "URL", type: "string", jsonPath: ".status.url", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
} as const satisfies KindDefinition;
