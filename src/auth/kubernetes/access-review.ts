import { createHash } from "node:crypto";
import type { Clock } from "../../controller/clock.ts";
import { API_RESOURCES, apiPath } from "../../kubernetes/index.ts";
import type { Access } from "../access.ts";
import { answerCache } from "../answer-cache.ts";
import type { Subject } from "../authority.ts";

export interface AccessReviewDeps {
  readonly review: <T>(path: string, body: object) => Promise<T>;
  readonly clock: Clock;
  readonly staleMs?: number;
}

/** authorization.k8s.io/v1 SubjectAccessReview, what is read of it. */
interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean };
}

/** A right that was taken away lasts so long at most. */
const ALLOWED_MS = 20_000;
/** Whoever was just given a right shall not wait. */
const DENIED_MS = 10_000;

/** @returns tells whether a subject may; it throws when nobody can tell */
export function accessReviews(deps: AccessReviewDeps): (subject: Subject, access: Access) => Promise<boolean> {
  const { clock, staleMs = 0 } = deps;
  const cache = answerCache<boolean>({
    clock,
    isRefusal: (allowed) => !allowed,
    lifeOf: (allowed) =>
      allowed
        ? { freshMs: ALLOWED_MS, staleMs: Math.max(ALLOWED_MS, staleMs) }
        : { freshMs: DENIED_MS, staleMs: DENIED_MS },
  });
  return (subject, access) => {
    const spec = specOf(subject, access);
    const key = createHash("sha256").update(JSON.stringify(spec)).digest("base64");
    return cache.get(key, () => ask(spec, deps));
  };
}

async function ask(spec: object, { review }: AccessReviewDeps): Promise<boolean> {
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
  const { status } = await review<SubjectAccessReview>(apiPath(API_RESOURCES.SubjectAccessReview), body);
  return status?.allowed === true && status.denied !== true;
}

function specOf({ username: user, uid, groups, extra }: Subject, access: Access): object {
  const subject = { user, uid, groups, extra };
  return "path" in access ? { ...subject, nonResourceAttributes: access } : { ...subject, resourceAttributes: access };
}
