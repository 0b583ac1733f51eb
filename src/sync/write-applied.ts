import { isDeepStrictEqual } from "node:util";
import { type AnyObject, type Condition, conditionsWithApplied, refOf } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import { isOfOneObject } from "./note-failure.ts";
import type { SyncDeps } from "./sync-deps.ts";
import { timeText } from "./time-text.ts";

/** Why an object is not as its repository wants it. */
export interface Refusal {
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
}

const TRIES = 3;
/** Policies may have much to say. */
const MESSAGE_MAX = 4_096;

/**
 * Tells in the object's condition `Applied` that it is not as its repository wants it; without a refusal takes the
 * condition away. What is there already is not written. Nothing else of the object moves.
 *
 * @param object as it was read last; read again when it was changed meanwhile
 */
export async function writeApplied(object: AnyObject, refusal: Refusal | undefined, deps: SyncDeps): Promise<void> {
  let present: AnyObject | undefined = object;
  for (let left = TRIES; left > 0 && present?.metadata.uid === object.metadata.uid; left -= 1) {
    const conditions = conditionsAsTold(present, refusal, deps);
    if (isDeepStrictEqual(present.status?.conditions ?? [], conditions)) return;
    try {
      await deps.store.updateStatus(present, { ...present.status, conditions }, { owner: "sync" });
      return;
    } catch (error) {
      // Who refuses the object may refuse its status too; the Repository tells it in any case.
      if (!isOfOneObject(error)) throw error;
      if (!isSlessError(error, "conflict")) return;
    }
    present = (await deps.store.get(object.kind, refOf(object))) as AnyObject | undefined;
  }
}

function conditionsAsTold(
  { status, metadata }: AnyObject,
  refusal: Refusal | undefined,
  { clock }: SyncDeps,
): Condition[] {
  const update = refusal && {
    status: "False" as const,
    reason: refusal.reason,
    message: refusal.message.slice(0, MESSAGE_MAX).toWellFormed(),
    observedGeneration: metadata.generation,
  };
  return conditionsWithApplied(status?.conditions, update, timeText(clock.now()));
}
