import { randomBytes } from "node:crypto";
import { keyOf, type ObjectKey, type ObjectOf, type RepositorySpec } from "../apis/index.ts";
import type { Clock } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";
import type { ResourceStore } from "../resources/index.ts";

/** Keys of a webhook's Secret: the value, named as Flux does, and what counts beside it while it is being changed. */
export const TOKEN_KEYS = ["token", "token.previous"] as const;

/** What webhooks need of a Repository: the rest of it may be large. */
export interface HookedRepository {
  readonly metadata: Pick<ObjectOf<"Repository">["metadata"], "namespace" | "name" | "uid">;
  readonly spec: Pick<RepositorySpec, "ref" | "suspend">;
}

/** Whom a delivery is for. */
export interface HookTarget {
  /** Undefined when there is none that takes deliveries. */
  readonly repository: HookedRepository | undefined;
  /** Why there is none: to be told nobody outside. */
  readonly missing?: "repository" | "webhookSecretRef" | "token";
  /** Always as many, so that checking takes the same work for all; those that stand for nothing are random. */
  readonly secrets: readonly Buffer[];
}

export interface HookTargets {
  /** @throws SlessError of the store and of the secrets */
  find(key: ObjectKey): Promise<HookTarget>;
}

export interface HookTargetDeps {
  readonly store: Pick<ResourceStore, "get">;
  readonly readSecret: (namespace: string, name: string, key: string) => Promise<string | undefined>;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** However many deliveries come, each repository and its secret are read once in this time. */
const FRESH_MS = 1_000;
const ENTRIES_MAX = 1_000;
/** Characters: no forge takes as many, and each is kept for a while. */
const TOKEN_MAX = 4_096;
/** Read for repositories that name no secret: a delivery to them shall take no less time. */
const NO_SECRET = "sless-webhook";
const RANDOM = TOKEN_KEYS.map(() => randomBytes(32));

interface Entry {
  readonly until: number;
  readonly target: Promise<HookTarget>;
}

export function hookTargets(deps: HookTargetDeps): HookTargets {
  const { clock } = deps;
  const entries = new Map<string, Entry>();
  return {
    find(key) {
      const id = keyOf(key);
      const known = entries.get(id);
      if (known && known.until > clock.monotonicMs()) return known.target;
      const target = readTarget(key, deps);
      entries.delete(id);
      entries.set(id, { until: clock.monotonicMs() + FRESH_MS, target });
      if (entries.size > ENTRIES_MAX) entries.delete(entries.keys().next().value as string);
      target.catch(() => {
        if (entries.get(id)?.target === target) entries.delete(id);
      });
      return target;
    },
  };
}

async function readTarget(key: ObjectKey, { store, readSecret }: HookTargetDeps): Promise<HookTarget> {
  const repository = await store.get("Repository", key);
  const name = repository?.spec.webhookSecretRef?.name;
  const values = await Promise.all(TOKEN_KEYS.map((of) => readSecret(key.namespace, name ?? NO_SECRET, of)));
  const tokens = name === undefined ? [] : values.map(tokenIn);
  const secrets = RANDOM.map((random, index) => (tokens[index] ? Buffer.from(tokens[index]) : random));
  if (!repository || repository.metadata.deletionTimestamp)
    return { repository: undefined, missing: "repository", secrets: RANDOM };
  if (name === undefined) return { repository: undefined, missing: "webhookSecretRef", secrets };
  if (!tokens.some(Boolean)) return { repository: undefined, missing: "token", secrets };
  return { repository: reduced(repository), secrets };
}

/**
 * Why a repository that names a secret for its webhooks can take none; undefined when it can.
 *
 * @throws SlessError of the secrets
 */
export async function hookSecretFault(
  { metadata, spec }: ObjectOf<"Repository">,
  readSecret: HookTargetDeps["readSecret"],
): Promise<SlessError | undefined> {
  const secret = spec.webhookSecretRef?.name;
  if (secret === undefined) return undefined;
  for (const key of TOKEN_KEYS) if (tokenIn(await readSecret(metadata.namespace, secret, key))) return undefined;
  return new SlessError("secret_missing", { secret, key: TOKEN_KEYS[0] });
}

function reduced({ metadata, spec }: ObjectOf<"Repository">): HookedRepository {
  const { namespace, name, uid } = metadata;
  const { ref, suspend } = spec;
  return {
    metadata: { namespace, name, uid },
    spec: { ...(ref && { ref }), ...(suspend !== undefined && { suspend }) },
  };
}

/** Files and editors end a line where forges have none. */
function tokenIn(value: string | undefined): string | undefined {
  if (value === undefined || value.length > TOKEN_MAX) return undefined;
  // Of bytes that were no text most are lost by now, and what is left could be guessed.
  return value.includes("\ufffd") ? undefined : value.replace(/[\r\n]+$/, "");
}
