import type { IncomingHttpHeaders } from "node:http";
import { announcementOf } from "./announcement.ts";
import type { HookedRepository } from "./hook-targets.ts";
import { wantedRef } from "./wanted-ref.ts";

/** What a delivery that is let in asks for. */
export type Judgement =
  /** A sync; `commit` is what the followed ref names now, where it is told. */
  | { readonly outcome: "requested"; readonly commit: string | undefined }
  | { readonly outcome: "ping" | "other_ref" | "suspended"; readonly reason: string };

/**
 * What is not understood may be something new. Pure.
 *
 * @param payload JSON text; undefined when it is too long to be looked at
 */
export function judgeDelivery(
  { spec }: HookedRepository,
  headers: IncomingHttpHeaders,
  payload: string | undefined,
): Judgement {
  const announcement = announcementOf(headers, payload);
  if (announcement.kind === "ping") return { outcome: "ping", reason: "it is a ping" };
  if (spec.suspend) return { outcome: "suspended", reason: "the repository is suspended" };
  if (announcement.kind === "unknown") return { outcome: "requested", commit: undefined };
  const wanted = wantedRef(announcement, spec.ref);
  if (wanted === undefined) return { outcome: "other_ref", reason: "it is about a ref that is not followed" };
  return { outcome: "requested", commit: wanted === "any" ? undefined : wanted.commit };
}
