import { PATCH_TYPES, type SentRequest } from "../../src/kubernetes/index.ts";
import type { RequestCounts } from "./orders.ts";

interface Noted extends SentRequest {
  readonly endMs: number;
}

/** Requests of a client, counted by what they do. */
export function requestLog() {
  let noted: Noted[] = [];
  return {
    note: (request: SentRequest) => void noted.push({ ...request, endMs: performance.now() }),
    clear() {
      noted = [];
    },
    since(startMs: number): RequestCounts {
      const applies = timesOf(noted, "apply functions");
      const deployments = timesOf(noted, "apply deployments");
      return {
        counts: countBy(noted.map(kindOf)),
        appliedMs: applies === undefined ? 0 : applies.endMs - startMs,
        applyingMs: applies === undefined ? 0 : applies.endMs - applies.startMs,
        deployedMs: deployments === undefined ? 0 : deployments.endMs - startMs,
      };
    },
  };
}

/** From the start of the first request of a kind to the end of the last. */
function timesOf(noted: readonly Noted[], kind: string): { startMs: number; endMs: number } | undefined {
  const those = noted.filter((request) => kindOf(request) === kind);
  if (those.length === 0) return undefined;
  const starts = those.map(({ endMs, durationMs }) => endMs - durationMs);
  return { startMs: Math.min(...starts), endMs: Math.max(...those.map(({ endMs }) => endMs)) };
}

/** `apply functions`, `PUT functions/status`; failures by their status too. */
export function kindOf({ method, path, status, contentType }: SentRequest): string {
  const [, plural, , subresource] = /(?:\/namespaces\/[^/]+)?\/([a-z]+)(?:\/([^/]+)(?:\/([a-z]+))?)?$/.exec(path) ?? [];
  const verb = contentType === PATCH_TYPES.apply ? "apply" : method;
  const what = `${verb} ${plural}${subresource ? `/${subresource}` : ""}`;
  return status < 400 && status > 0 ? what : `${what} (${status})`;
}

function countBy(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
