import { isSlessError } from "../errors/index.ts";

/** When a key is reconciled again without a new event: not at all, after a time, or after its growing back-off. */
export type Next =
  | { readonly kind: "done" }
  | { readonly kind: "after"; readonly ms: number }
  | { readonly kind: "backOff" };

/** How long a key waits whose error says that somebody must act. */
export const WAITING_MS = 60_000;

/**
 * What an error means for its key: `stalled` only a change of the object mends, `waiting` is looked at again after
 * `waitingMs`, everything else backs off.
 */
export function nextAfterError(error: unknown, waitingMs: number = WAITING_MS): Next {
  const consequence = isSlessError(error) ? error.consequence : "retry";
  switch (consequence) {
    case "stalled":
      return { kind: "done" };
    case "waiting":
      return { kind: "after", ms: waitingMs };
    case "retry":
      return { kind: "backOff" };
  }
}
