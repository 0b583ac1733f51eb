import {
  type ConditionUpdate,
  conditionsWith,
  type ObjectOf,
  type RepositoryStatus,
  WEBHOOK_READY,
  webhookPathOf,
} from "../apis/index.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** Puts what was learned of a repository's webhook into a status. Pure. `now` is RFC 3339. */
export type WithWebhook = (status: RepositoryStatus, now: string) => RepositoryStatus;

const asItWas: WithWebhook = (status) => status;

/**
 * Looks whether webhooks of a repository can be let in. That the secret cannot be read now is no news: what was told of
 * it stays.
 */
export async function lookAtWebhook(
  repository: ObjectOf<"Repository">,
  { webhookFault }: Pick<SyncDeps, "webhookFault">,
): Promise<WithWebhook> {
  if (!webhookFault) return asItWas;
  const path = webhookPathOf(repository);
  if (path === undefined) return telling(undefined);
  const observedGeneration = repository.metadata.generation;
  try {
    const fault = await webhookFault(repository);
    if (fault) return telling({ status: "False", reason: "SecretMissing", message: fault.message, observedGeneration });
    const message = `Deliveries that the secret signs are taken at ${path}.`;
    return telling({ status: "True", reason: "SecretFound", message, observedGeneration });
  } catch {
    return asItWas;
  }
}

function telling(update: Omit<ConditionUpdate, "type"> | undefined): WithWebhook {
  return (status, now) => {
    const conditions = conditionsWith(WEBHOOK_READY, status.conditions, update, now);
    return conditions.length === 0 && !status.conditions ? status : { ...status, conditions };
  };
}
