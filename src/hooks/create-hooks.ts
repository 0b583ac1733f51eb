import type { IncomingHttpHeaders } from "node:http";
import { isNamespaceName, isObjectName, keyOf, type ObjectKey } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";
import { isSlessError, SlessError } from "../errors/index.ts";
import { isForm, payloadOf } from "./announcement.ts";
import { checkDelivery } from "./check-delivery.ts";
import { deliveryFaults, type HookLog } from "./delivery-faults.ts";
import { deliverySlots, type OpenBody } from "./delivery-slots.ts";
import { type HookTarget, type HookTargetDeps, hookTargets } from "./hook-targets.ts";
import { type Judgement, judgeDelivery } from "./judge-delivery.ts";
import { keptBody } from "./kept-body.ts";
import { hasProof, type Proofs, proofsOf } from "./proofs.ts";
import { type SyncHintsDeps, syncHints } from "./sync-hints.ts";

/** A request of a forge, as it comes. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  /** Address of the sender, as far as it is known. */
  readonly from: string;
  /** It bounds size and time itself. */
  readonly body: OpenBody;
}

/** What a delivery came to that was let in. */
export type DeliveryAnswer = { readonly sync: "requested" } | { readonly sync: "none"; readonly reason: string };

/** What became of a delivery, for metrics. */
export type DeliveryOutcome = Judgement["outcome"] | "refused" | "busy" | "failed";

export interface HooksDeps extends HookTargetDeps {
  /** Says that a repository may have something new. */
  readonly hint: SyncHintsDeps["hint"];
  readonly clock: TimerClock;
  readonly log: HookLog;
  readonly onDelivery?: (outcome: DeliveryOutcome) => void;
}

export interface Hooks {
  /**
   * Takes a delivery for a repository. It counts when its sender knows a value of the secret that `webhookSecretRef`
   * names, and then is a hint to look at the repository, nothing more. Whether there is such a repository, or a secret,
   * is told nobody who does not know it.
   *
   * @throws SlessError `hook_refused`, `hooks_busy`, `hooks_unavailable`; those of the body
   */
  receive(key: ObjectKey, delivery: Delivery): Promise<DeliveryAnswer>;
  /** Gives the hints that wait; to be called when no delivery comes any more. */
  close(): Promise<void>;
}

/** Payloads beyond it are not looked into; they are checked all the same, and a hint. */
const KEPT_BYTES = 512 * 1024;
const SLOTS = { max: 48, perKey: 8, bytesPerSecond: 64 * 1024 };
/**
 * For repositories of which nothing was proved yet. Anybody can make up names, and each costs reads of a store that
 * answers so many a second: however many come, they have these places, and the others theirs.
 */
const STRANGERS = { ...SLOTS, max: 16 };
/** Repositories that are remembered to have taken a delivery, until one finds that they take none any more. */
const KNOWN_MAX = 1_000;

export function createHooks(deps: HooksDeps): Hooks {
  const { clock, log, onDelivery = () => undefined } = deps;
  const targets = hookTargets(deps);
  const slots = deliverySlots({ ...SLOTS, clock });
  const strangers = deliverySlots({ ...STRANGERS, clock });
  const known = lastOf(KNOWN_MAX);
  const faults = deliveryFaults(deps);
  const hints = syncHints({ ...deps, onError: faults.hintFailed });

  async function judged(key: ObjectKey, { headers, from, body }: Delivery): Promise<Judgement> {
    if (!isName(key)) throw new SlessError("hook_refused");
    const proofs = proofsOf(headers, clock.now());
    if (!hasProof(proofs)) throw faults.refusal(key, "no signature");
    const id = keyOf(key);
    return (known.has(id) ? slots : strangers).run({ key: id, from }, async (place) => {
      const target = await faults.available(key, targets.find(key));
      const payload = await provedPayload(headers, place.receive(body), proofs, target);
      if (!target.repository) {
        known.delete(id);
        throw faults.refusal(key, `no ${target.missing}`, target.missing === "token");
      }
      if (!payload) throw faults.refusal(key, "wrong signature", true);
      known.add(id);
      const judgement = judgeDelivery(target.repository, headers, payload.text);
      if (judgement.outcome === "requested")
        await faults.available(key, hints.give(target.repository, judgement.commit));
      return judgement;
    });
  }

  return {
    async receive(key, delivery) {
      try {
        const judgement = await judged(key, delivery);
        const { outcome } = judgement;
        log.debug({ namespace: key.namespace, name: key.name, outcome }, "webhook delivery taken");
        onDelivery(outcome);
        return outcome === "requested" ? { sync: "requested" } : { sync: "none", reason: judgement.reason };
      } catch (error) {
        const outcome = outcomeOf(error);
        if (outcome === "busy") faults.busy(key);
        onDelivery(outcome);
        throw error;
      }
    },
    async close() {
      await hints.close();
      await faults.close();
    },
  };
}

/** The payload of a delivery that is proved, without its text when that is too long; undefined when it is not proved. */
async function provedPayload(
  headers: IncomingHttpHeaders,
  body: AsyncIterable<Uint8Array>,
  proofs: Proofs,
  { secrets }: HookTarget,
): Promise<{ readonly text: string | undefined } | undefined> {
  const check = checkDelivery(proofs, secrets);
  const kept = keptBody(KEPT_BYTES);
  for await (const chunk of body) {
    check.update(chunk);
    kept.add(chunk);
  }
  const whole = kept.whole();
  const text = whole && payloadOf(headers, whole);
  return check.isProved(isForm(headers) ? text : undefined) ? { text } : undefined;
}

/** The values that were added last. */
function lastOf(max: number): Pick<Set<string>, "has" | "delete"> & { add(value: string): void } {
  const values = new Set<string>();
  return {
    has: (value) => values.has(value),
    delete: (value) => values.delete(value),
    add(value) {
      values.delete(value);
      values.add(value);
      if (values.size > max) values.delete(values.values().next().value as string);
    },
  };
}

/** Of what no repository can be named nothing is read, nor logged. */
function isName({ namespace, name }: ObjectKey): boolean {
  return isNamespaceName(namespace) && isObjectName(name);
}

function outcomeOf(error: unknown): DeliveryOutcome {
  if (isSlessError(error, "hook_refused")) return "refused";
  return isSlessError(error, "hooks_busy") ? "busy" : "failed";
}
