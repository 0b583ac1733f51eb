import type { RefSpec } from "../apis/index.ts";
import type { PushedRef } from "./announcement.ts";

interface Push {
  readonly refs: readonly PushedRef[];
  readonly defaultBranch: string | undefined;
}

/**
 * The pushed ref that may change what a repository follows; `any` where that cannot be told, undefined when none does.
 * Of several fields of a ref the one counts that counts when it is resolved. Pure.
 */
export function wantedRef({ refs, defaultBranch }: Push, ref: RefSpec = {}): PushedRef | "any" | undefined {
  const named = (name: string) => refs.find((pushed) => pushed.ref === name);
  // It may have come with any ref, and is looked for no more once it is there.
  if (ref.commit !== undefined) return "any";
  if (ref.tag !== undefined) return named(`refs/tags/${ref.tag}`) && "any";
  if (ref.semver !== undefined) return refs.some((pushed) => pushed.ref.startsWith("refs/tags/")) ? "any" : undefined;
  if (ref.branch !== undefined) return named(`refs/heads/${ref.branch}`);
  if (defaultBranch !== undefined) return named(`refs/heads/${defaultBranch}`);
  return refs.some((pushed) => pushed.ref.startsWith("refs/heads/")) ? "any" : undefined;
}
