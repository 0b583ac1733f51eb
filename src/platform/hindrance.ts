import { type ErrorCode, isSlessError, messageOf } from "../errors/index.ts";
import type { WorkloadState } from "./platform.ts";

const REASONS: Partial<Record<ErrorCode, string>> = {
  namespace_terminating: "NamespaceTerminating",
  namespace_not_ours: "NamespaceNotOurs",
  cluster_refused: "Refused",
  runs_busy: "EarlierRuns",
};

/**
 * What an error says that keeps a platform from running anything at all, as a status tells it as long as it lasts;
 * undefined for every other error.
 */
export function hindranceOf(error: unknown): NonNullable<WorkloadState["failure"]> | undefined {
  const reason = isSlessError(error) ? REASONS[error.code] : undefined;
  return reason === undefined ? undefined : { reason, message: messageOf(error) };
}
