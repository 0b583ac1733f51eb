/**
 * How long a client waits for an answer to begin, and for more of it: what is only looked up or noted; what the server
 * does meanwhile, as pushing a commit or looking through a store; what a function says, or a log that is followed.
 */
export type Patience = "brief" | "long" | "endless";

/** Milliseconds; 0 = no limit. */
export const WAIT_MS: Readonly<Record<Patience, number>> = { brief: 60_000, long: 900_000, endless: 0 };

/** An error of undici that says that a limit ran out. */
export function isSilence(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT";
}
