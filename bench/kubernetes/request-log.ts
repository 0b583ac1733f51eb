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
      const applies = noted.filter((request) => kindOf(request) === "apply functions");
      const ends = applies.map(({ endMs }) => endMs);
      const starts = applies.map(({ endMs, durationMs }) => endMs - durationMs);
      const lastMs = ends.length === 0 ? startMs : Math.max(...ends);
      return {
        counts: countBy(noted.map(kindOf)),
        appliedMs: lastMs - startMs,
        applyingMs: ends.length === 0 ? 0 : lastMs - Math.min(...starts),
      };
    },
  };
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
