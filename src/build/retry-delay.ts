import type { ErrorCode } from "../errors/index.ts";

const RETRY_MIN_MS = 10_000;
const RETRY_MAX_MS = 600_000;
/** Whoever was told to install a tool shall not wait long after it, nor a source that was stored anew. */
const RETRY_MAX_MS_OF: Partial<Record<ErrorCode, number>> = { toolchain_missing: 20_000, source_unavailable: 60_000 };

/** How long to wait after so many failures in a row (1 or more): 10 s, doubling up to 10 min, or less. */
export function retryDelayMs(failures: number, code: ErrorCode): number {
  return Math.min(RETRY_MIN_MS * 2 ** (failures - 1), RETRY_MAX_MS_OF[code] ?? RETRY_MAX_MS);
}
