import type { IncomingHttpHeaders } from "node:http";
import { SlessError } from "../errors/index.ts";

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/;

export interface RequestGuard {
  /**
   * @param isCall below `/fn/`, where a page of any origin may call: a function decides for itself whom it answers
   * @returns the refusal, or undefined when the request may go on
   */
  refusal(headers: IncomingHttpHeaders, isCall: boolean): SlessError | undefined;
}

/**
 * For a server on this machine alone: a page of the web must not reach it by a name that it made point here (DNS
 * rebinding), nor make the user's browser write to it. Names without ports; loopback names are always allowed.
 */
export function localGuard(extraNames: readonly string[] = []): RequestGuard {
  const names = new Set([...LOOPBACK_NAMES, ...extraNames.map((name) => name.toLowerCase())]);
  return {
    refusal({ host, origin }, isCall) {
      const lower = (host ?? "").toLowerCase();
      const name = HOST.exec(lower)?.[1];
      if (name === undefined || !names.has(name))
        return new SlessError("foreign_host", { host: shown(host), expected: [...names].join(" or ") });
      if (isCall || origin === undefined || isSame(origin, lower)) return undefined;
      return new SlessError("foreign_origin", { origin: shown(origin) });
    },
  };
}

/** For a server behind a name of its own, where a token proves who asks: whatever page sends it, it sends no token. */
export const openGuard: RequestGuard = { refusal: () => undefined };

function isSame(origin: string, host: string): boolean {
  const lower = origin.toLowerCase();
  return lower === `http://${host}` || lower === `https://${host}`;
}

function shown(value: string | undefined): string {
  return JSON.stringify((value ?? "").slice(0, 100));
}
