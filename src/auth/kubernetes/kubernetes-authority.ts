import type { Clock } from "../../controller/clock.ts";
import { messageOf, SlessError } from "../../errors/index.ts";
import type { KubernetesClient } from "../../kubernetes/index.ts";
import type { Authority } from "../authority.ts";
import { denied } from "../denied.ts";
import { accessReviews } from "./access-review.ts";
import { tokenReviews } from "./token-review.ts";

export interface KubernetesAuthorityOptions {
  /** One of its own keeps a flood of tokens from using up the rate limit of everything else. */
  readonly client: Pick<KubernetesClient, "request">;
  readonly clock: Clock;
  /** A token must be meant for one of these; default: those of the API server. */
  readonly audiences?: readonly string[];
  /**
   * How long what was allowed goes on to be while the API server is away, in milliseconds, and never beyond the end of
   * the token; default 0: nothing is allowed that cannot be asked.
   */
  readonly staleMs?: number;
  readonly log?: { warn(fields: object, message: string): void };
}

/** Whatever the API server has not answered by then counts as away. */
const PATIENCE_MS = 10_000;

/** TokenReview tells who speaks, SubjectAccessReview what he may: RBAC decides. Both are kept for less than a minute. */
export function kubernetesAuthority(options: KubernetesAuthorityOptions): Authority {
  const { client, log } = options;
  async function review<T>(path: string, body: object): Promise<T> {
    try {
      return await client.request<T>({ method: "POST", path, body, signal: AbortSignal.timeout(PATIENCE_MS) });
    } catch (error) {
      log?.warn({ path, err: messageOf(error) }, "the API server could not be asked about access");
      // Whoever asks is not told of our own rights and addresses.
      throw new SlessError("cluster_unavailable", { cause: "it could not be asked who may do what" }, { cause: error });
    }
  }
  const tokens = tokenReviews({ ...options, review });
  const accesses = accessReviews({ ...options, review });
  return {
    async authenticate(token) {
      const subject = await tokens(token);
      if (subject) return subject;
      throw new SlessError("unauthenticated", { cause: "its token is not valid here, or no longer" });
    },
    async authorize(subject, access) {
      if (!(await accesses(subject, access))) throw denied(subject, access);
    },
  };
}
