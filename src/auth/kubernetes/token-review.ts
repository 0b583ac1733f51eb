import { createHash } from "node:crypto";
import type { Clock } from "../../controller/clock.ts";
import { API_RESOURCES, apiPath } from "../../kubernetes/index.ts";
import { answerCache, type Life } from "../answer-cache.ts";
import type { Subject } from "../authority.ts";

export interface TokenReviewDeps {
  readonly review: <T>(path: string, body: object) => Promise<T>;
  readonly clock: Clock;
  readonly audiences?: readonly string[];
  readonly staleMs?: number;
}

/** authentication.k8s.io/v1 TokenReview, what is read of its status. */
interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

const VALID_MS = 60_000;
const REFUSED_MS = 10_000;
const ANONYMOUS = "system:anonymous";

interface Verdict {
  readonly subject: Subject | undefined;
  /** Milliseconds that the token itself has left; undefined when it does not say. */
  readonly leftMs: number | undefined;
}

/** @returns tells whom a token stands for, undefined for none; it throws when nobody can tell */
export function tokenReviews(deps: TokenReviewDeps): (token: string) => Promise<Subject | undefined> {
  const { clock, staleMs = 0 } = deps;
  const cache = answerCache<Verdict>({
    clock,
    isRefusal: ({ subject }) => subject === undefined,
    lifeOf: (verdict) => lifeOf(verdict, staleMs),
  });
  return async (token) => {
    // The cache shall hold no token that a dump of the memory would give away.
    const key = createHash("sha256").update(token).digest("base64");
    const { subject } = await cache.get(key, () => ask(token, deps));
    return subject;
  };
}

async function ask(token: string, { review, audiences, clock }: TokenReviewDeps): Promise<Verdict> {
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenReview",
    spec: { token, ...(audiences ? { audiences } : {}) },
  };
  const { status } = await review<TokenReview>(apiPath(API_RESOURCES.TokenReview), body);
  return { subject: subjectOf(status, audiences), leftMs: leftOf(token, clock) };
}

function subjectOf(status: TokenReview["status"], audiences: readonly string[] | undefined): Subject | undefined {
  const { username, uid = "", groups = [], extra = {} } = status?.user ?? {};
  if (status?.authenticated !== true || !username || username === ANONYMOUS) return undefined;
  // Authenticators that know nothing of audiences leave them out: such a token is meant for the API server.
  if (audiences && !audiences.some((audience) => status.audiences?.includes(audience))) return undefined;
  return { username, uid, groups, extra };
}

function lifeOf({ subject, leftMs }: Verdict, staleMs: number): Life {
  if (!subject) return { freshMs: REFUSED_MS, staleMs: REFUSED_MS };
  const atMost = leftMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, leftMs);
  return { freshMs: Math.min(VALID_MS, atMost), staleMs: Math.min(Math.max(VALID_MS, staleMs), atMost) };
}

/** From the claim `exp` of a JWT. It is no proof, but what was just found valid may be trusted to tell its own end. */
function leftOf(token: string, clock: Clock): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    const { exp } = claims as { exp?: unknown };
    return typeof exp === "number" ? exp * 1_000 - clock.now().getTime() : undefined;
  } catch {
    return undefined;
  }
}
