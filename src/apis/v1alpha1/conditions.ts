import Type from "typebox";

/** A Kubernetes condition (meta/v1 Condition). All are positive but kstatus's `Reconciling` and `Stalled`. */
export const ConditionSchema = Type.Object({
  type: Type.String({ maxLength: 316 }),
  status: Type.Enum(["True", "False", "Unknown"]),
  reason: Type.String({ maxLength: 1024 }),
  message: Type.String({ maxLength: 32768 }),
  lastTransitionTime: Type.String({ format: "date-time" }),
  observedGeneration: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type Condition = Type.Static<typeof ConditionSchema>;

/** `conditions` of a status: a map list keyed by `type`, as server-side apply merges it. */
export const ConditionsSchema = Type.Array(ConditionSchema, {
  maxItems: 32,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
});

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isTrue(object: { status?: { conditions?: readonly Condition[] } }, type: string): boolean {
  return findCondition(object.status?.conditions, type)?.status === "True";
}

export type ConditionUpdate = Omit<Condition, "lastTransitionTime">;

/**
 * `Ready` and, where it is not true, kstatus's `Reconciling` (it goes on by itself) or `Stalled` (somebody must act), so
 * that whoever waits for an object knows whether there is something to wait for. Pure.
 */
export function withOutlook(ready: ConditionUpdate, outlook: "Reconciling" | "Stalled"): ConditionUpdate[] {
  return ready.status === "True" ? [ready] : [ready, { ...ready, type: outlook, status: "True" }];
}

/**
 * Of an object from Git, and only while what its repository wants of it is refused: False. Sync writes it and takes it
 * away; the other writers of a status leave it as it is.
 */
export const APPLIED = "Applied";

/** Of a Repository with a `webhookSecretRef`: whether deliveries can be let in, which syncing it does not depend on. */
export const WEBHOOK_READY = "WebhookReady";

const KEPT: readonly string[] = [APPLIED, WEBHOOK_READY];

/**
 * The conditions after an update: `lastTransitionTime` moves only when `status` changes, order is kept,
 * types that `next` does not name disappear (so an abnormal-true condition vanishes by leaving it out), but `APPLIED`
 * and `WEBHOOK_READY`. Pure: `now` is RFC 3339.
 */
export function conditionsAfter(
  previous: readonly Condition[] | undefined,
  next: readonly ConditionUpdate[],
  now: string,
): Condition[] {
  const kept = (previous ?? []).filter(({ type }) => KEPT.includes(type) && !next.some((one) => one.type === type));
  return [...next.map((update) => since(previous, update, now)), ...kept];
}

/** The conditions with `APPLIED` as the update says, or without it; the others are as they were. Pure: `now` is RFC 3339. */
export function conditionsWithApplied(
  previous: readonly Condition[] | undefined,
  update: Omit<ConditionUpdate, "type"> | undefined,
  now: string,
): Condition[] {
  return conditionsWith(APPLIED, previous, update, now);
}

/** The conditions with one of this type as the update says, or without it; the others are as they were. Pure. */
export function conditionsWith(
  type: string,
  previous: readonly Condition[] | undefined,
  update: Omit<ConditionUpdate, "type"> | undefined,
  now: string,
): Condition[] {
  const others = (previous ?? []).filter((condition) => condition.type !== type);
  return update ? [...others, since(previous, { ...update, type }, now)] : others;
}

function since(previous: readonly Condition[] | undefined, update: ConditionUpdate, now: string): Condition {
  const before = findCondition(previous, update.type);
  return {
    ...update,
    lastTransitionTime: before && before.status === update.status ? before.lastTransitionTime : now,
  };
}
