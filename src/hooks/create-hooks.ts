import type { IncomingHttpHeaders } from "node:http";
import { keyOf, type ObjectKey, type ObjectOf } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import { announcedCommits } from "./announced-commits.ts";
import { announcementOf, isForm, payloadOf } from "./announcement.ts";
import { checkDelivery } from "./check-delivery.ts";
import { deliverySlots } from "./delivery-slots.ts";
import { type HookTarget, type HookTargetDeps, hookTargets } from "./hook-targets.ts";
import { keptBody } from "./kept-body.ts";
import { paced } from "./paced.ts";
import { hasProof, type Proofs, proofsOf } from "./proofs.ts";
import { wantedRef } from "./wanted-ref.ts";

type Repository = ObjectOf<"Repository">;

/** A request of a forge, as it comes. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  /** Not begun; it bounds size and time itself. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** What a delivery came to that was let in. */
export type DeliveryAnswer = { readonly sync: "requested" } | { readonly sync: "none"; readonly reason: string };

/** What became of a delivery, for metrics. */
export type DeliveryOutcome = "requested" | "ping" | "other_ref" | "suspended" | "refused" | "busy" | "failed";

export interface HooksDeps extends HookTargetDeps {
  /** Says that a repository may have something new. */
  readonly hint: (repository: Repository) => Promise<void> | void;
  readonly clock: TimerClock;
  readonly log: { debug(fields: object, message: string): void; warn(fields: object, message: string): void };
  readonly onDelivery?: (outcome: DeliveryOutcome) => void;
}

export interface Hooks {
  /**
   * Takes a delivery for a repository. It counts when its sender knows a value of the secret that `webhookSecretRef`
   * names, and then is a hint to look at the repository, nothing more. Whether there is such a repository, or a secret,
   * is told nobody who does not know it.
   *
   * @throws SlessError `hook_refused`, `hooks_busy`; those of the body, of the store and of the secrets
   */
  receive(key: ObjectKey, delivery: Delivery): Promise<DeliveryAnswer>;
  /** Gives the hints that wait; to be called when no delivery comes any more. */
  close(): Promise<void>;
}

/** Payloads beyond it are not looked into; they are checked all the same, and a hint. */
const KEPT_BYTES = 512 * 1024;
const SLOTS = { max: 64, perKey: 8 };
/** However often is pushed, a repository is asked for a sync at most once in this time. */
const HINT_PAUSE_MS = 2_000;
/** A secret that does not fit is told the operator, not once for every delivery. */
const WARN_PAUSE_MS = 60_000;

export function createHooks(deps: HooksDeps): Hooks {
  const { clock, log, store, onDelivery = () => undefined } = deps;
  const targets = hookTargets(deps);
  const slots = deliverySlots(SLOTS);
  const onError = (error: unknown, { namespace, name }: ObjectKey) =>
    log.warn({ namespace, name, err: messageOf(error) }, "webhook's hint not given");
  const hints = paced<Repository>({
    clock,
    pauseMs: HINT_PAUSE_MS,
    work: deps.hint,
    onError: (error, { metadata }) => onError(error, metadata),
  });
  const warnings = paced<object>({
    clock,
    pauseMs: WARN_PAUSE_MS,
    work: (fields) => log.warn(fields, "webhook delivery refused"),
    onError: () => undefined,
  });
  const announced = announcedCommits({
    clock,
    fetchedRevision: async (key) => (await store.get("Repository", key))?.status?.lastFetchedRevision,
    async askAgain(key) {
      const repository = await store.get("Repository", key);
      if (repository && !repository.spec.suspend) await hints.ask(keyOf(key), repository);
    },
    onError,
  });

  async function receive(key: ObjectKey, delivery: Delivery): Promise<DeliveryAnswer> {
    const proofs = proofsOf(delivery.headers, clock.now());
    if (!hasProof(proofs)) throw refusal(key, "no signature");
    return slots.run(keyOf(key), async () => {
      const target = await targets.find(key);
      const payload = await provedPayload(delivery, proofs, target);
      if (!target.repository) throw refusal(key, `no ${target.missing}`, target.missing === "token");
      if (!payload) throw refusal(key, "wrong signature", true);
      return answer(target.repository, delivery.headers, payload.text);
    });
  }

  /** The reason is for the log alone; it is a warning where a webhook is wanted and its secrets do not fit. */
  function refusal({ namespace, name }: ObjectKey, reason: string, isWanted = false): SlessError {
    const fields = { namespace, name, reason };
    if (isWanted) void warnings.ask(`${namespace}/${name}`, fields);
    else log.debug(fields, "webhook delivery refused");
    return new SlessError("hook_refused");
  }

  async function answer(
    repository: Repository,
    headers: IncomingHttpHeaders,
    payload: string | undefined,
  ): Promise<DeliveryAnswer> {
    const { outcome, reason, commit } = judge(repository, headers, payload);
    const { namespace, name } = repository.metadata;
    if (outcome === "requested") {
      await hints.ask(keyOf(repository.metadata), repository);
      if (commit !== undefined) announced.expect({ namespace, name }, commit);
    }
    log.debug({ namespace, name, outcome }, "webhook delivery taken");
    onDelivery(outcome);
    return outcome === "requested" ? { sync: "requested" } : { sync: "none", reason };
  }

  return {
    async receive(key, delivery) {
      try {
        return await receive(key, delivery);
      } catch (error) {
        onDelivery(outcomeOf(error));
        throw error;
      }
    },
    async close() {
      announced.close();
      await Promise.all([hints.close(), warnings.close()]);
    },
  };
}

/** The payload of a delivery that is proved, without its text when that is too long; undefined when it is not proved. */
async function provedPayload(
  { headers, body }: Delivery,
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

interface Judgement {
  readonly outcome: "requested" | "ping" | "other_ref" | "suspended";
  readonly reason: string;
  /** That the followed ref names now, where it is told. */
  readonly commit?: string | undefined;
}

/** What a delivery that is let in asks for: what is not understood may be something new. */
function judge({ spec }: Repository, headers: IncomingHttpHeaders, payload: string | undefined): Judgement {
  const announcement = announcementOf(headers, payload);
  if (announcement.kind === "ping") return { outcome: "ping", reason: "it is a ping" };
  if (spec.suspend) return { outcome: "suspended", reason: "the repository is suspended" };
  if (announcement.kind === "unknown") return { outcome: "requested", reason: "" };
  const wanted = wantedRef(announcement, spec.ref);
  if (wanted === undefined) return { outcome: "other_ref", reason: "it is about a ref that is not followed" };
  return { outcome: "requested", reason: "", commit: wanted === "any" ? undefined : wanted.commit };
}

function outcomeOf(error: unknown): DeliveryOutcome {
  if (!(error instanceof SlessError)) return "failed";
  if (error.code === "hook_refused") return "refused";
  return error.code === "hooks_busy" ? "busy" : "failed";
}
