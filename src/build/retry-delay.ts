import type { ErrorCode } from "../errors/index.ts";

const RETRY_MIN_MS = 10_000;
const RETRY_MAX_MS = 600_000;
/** Whoever was told to install a tool shall not wait long after it. */
const TOOL_RETRY_MAX_MS = 20_000;

/** How long to wait after so many failures in a row (1 or more): 10 s, doubling up to 10 min. */
export function retryDelayMs(failures: number, code: ErrorCode): number {
  const max = code === "toolchain_missing" ? TOOL_RETRY_MAX_MS : RETRY_MAX_MS;
  return Math.min(RETRY_MIN_MS * 2 ** (failures - 1), max);
}
