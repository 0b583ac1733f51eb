import {
  type ConditionUpdate,
  conditionsAfter,
  type ObjectKey,
  type ObjectOf,
  type ObjectRef,
  type TriggerStatus,
  withOutlook,
} from "../apis/index.ts";
import { type Clock, type Next, nextAfterError } from "../controller/index.ts";
import { isSlessError, messageOf, type SlessError } from "../errors/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { Routes } from "../routes/index.ts";
import { withoutUndefined } from "./workload-status.ts";

export interface TriggerDeps {
  readonly store: ResourceStore;
  readonly clock: Clock;
  /** The Function or Service of that name, from watches. */
  targetOf(key: ObjectKey): ObjectRef | undefined;
  urlOf(ref: ObjectRef): string;
  /** Where addresses need routes of their own: makes that of a target exist. */
  readonly routes?: Pick<Routes, "publish">;
}

/**
 * Reconciles triggers of type http: their address and whether calls arrive. Those of type cron are the scheduler's, and
 * so is their status; those of type event say that they are not served yet.
 */
export function createTriggerReconciler(deps: TriggerDeps): (key: ObjectKey) => Promise<Next> {
  return async (key) => {
    const trigger = await deps.store.get("Trigger", key);
    if (!trigger || trigger.metadata.deletionTimestamp || trigger.spec.type === "cron") return { kind: "done" };
    const target = deps.targetOf({ namespace: key.namespace, name: trigger.spec.functionRef });
    const url = target ? deps.urlOf(target) : undefined;
    const fault = target && isServed(trigger) ? await routeFault(target, deps) : undefined;
    const now = deps.clock.now().toISOString();
    await deps.store.updateStatus(trigger, triggerStatus(trigger, url, now, fault && messageOf(fault)));
    return fault ? nextAfterError(fault) : { kind: "done" };
  };
}

const isServed = ({ spec }: ObjectOf<"Trigger">) => spec.type === "http" && spec.enabled !== false;

async function routeFault(target: ObjectRef, { routes }: TriggerDeps): Promise<SlessError | undefined> {
  try {
    await routes?.publish(target);
    return undefined;
  } catch (error) {
    if (isSlessError(error)) return error;
    throw error;
  }
}

/**
 * Pure; `url` is the target's address, undefined while the target does not exist; `now` is RFC 3339; `routeFault` why the
 * address cannot be reached.
 */
export function triggerStatus(
  trigger: ObjectOf<"Trigger">,
  url: string | undefined,
  now: string,
  routeFault?: string,
): TriggerStatus {
  const ready = readyOf(trigger, url, routeFault);
  const active = ready.status === "True" && trigger.spec.enabled !== false;
  return withoutUndefined({
    observedGeneration: trigger.metadata.generation,
    active,
    url: active ? url : undefined,
    // Should it be a cron trigger again, no tick is fired twice.
    lastScheduleTime: trigger.status?.lastScheduleTime,
    conditions: conditionsAfter(
      trigger.status?.conditions,
      withOutlook(
        { ...ready, observedGeneration: trigger.metadata.generation },
        ready.reason === "TypeNotServed" ? "Stalled" : "Reconciling",
      ),
      now,
    ),
  });
}

function readyOf(
  trigger: ObjectOf<"Trigger">,
  url: string | undefined,
  routeFault: string | undefined,
): ConditionUpdate {
  const { type, functionRef, enabled } = trigger.spec;
  if (type !== "http") {
    const message = `Triggers of type ${type} are not served by this version of sless; only http and cron are.`;
    return { type: "Ready", status: "False", reason: "TypeNotServed", message };
  }
  if (url === undefined) {
    const message = `No Function or Service ${functionRef} exists in this namespace; it goes on by itself once there is one.`;
    return { type: "Ready", status: "False", reason: "FunctionNotFound", message };
  }
  if (enabled === false)
    return {
      type: "Ready",
      status: "True",
      reason: "Disabled",
      message: "It is disabled; no call arrives through it.",
    };
  if (routeFault !== undefined) return { type: "Ready", status: "False", reason: "RouteFailed", message: routeFault };
  return { type: "Ready", status: "True", reason: "Active", message: "Calls arrive." };
}
