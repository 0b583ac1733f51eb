import type { WorkloadRef } from "../apis/index.ts";
import { CALLER_TOKEN_HEADER } from "../auth/index.ts";
import { SlessError, slessErrorOf } from "../errors/index.ts";
import { isWorkloadName } from "./call-path.ts";

/**
 * How parts of sless call workloads through a gateway in another process: the function's own request, whatever its
 * method and headers, at `/internal/{ns}/{functions|services}/{name}{path}`, with headers below `x-sless-`. A client's
 * own of that name go no further than the port that they came to, so nobody outside can make them.
 */
export const INTERNAL_HEADERS = {
  /** Proves who calls; `Authorization` belongs to the function. */
  token: CALLER_TOKEN_HEADER,
  /** How the call came. */
  trigger: "x-sless-trigger",
  /** On answers of the gateway itself: which error. */
  error: "x-sless-error",
} as const;

const PLURALS = { Function: "functions", Service: "services" } as const;
const CALL = /^\/internal\/([^/?]+)\/(functions|services)\/([^/?]+)(\/[^?]*)?(\?.*)?$/s;

/**
 * @param path path and query below the name
 * @throws SlessError `no_such_function` for what takes no calls, `invalid_request` for a path that would go on with the name
 */
export function internalPath({ kind, namespace, name }: WorkloadRef, path: string): string {
  if (kind === "FunctionJob") throw new SlessError("no_such_function", { namespace, name });
  if (!path.startsWith("/")) throw new SlessError("invalid_request", { cause: "its path does not begin with /" });
  return `/internal/${namespace}/${PLURALS[kind]}/${name}${path}`;
}

/** The reverse of `internalPath`; undefined for all else. Nothing is decoded. Pure. */
export function parseInternalPath(target: string): { workload: WorkloadRef; path: string } | undefined {
  const match = CALL.exec(target);
  if (!match) return undefined;
  const [, namespace = "", plural, name = "", path = "/", query = ""] = match;
  if (!isWorkloadName(namespace, name)) return undefined;
  const kind = plural === "services" ? "Service" : "Function";
  return { workload: { kind, namespace, name }, path: path + query };
}

/** An error as a header's value. */
export function errorText({ code, details }: SlessError): string {
  return Buffer.from(JSON.stringify({ code, details })).toString("base64url");
}

/** The error that `errorText` wrote; undefined for what it never wrote. */
export function errorOf(text: string): SlessError | undefined {
  try {
    return slessErrorOf(JSON.parse(Buffer.from(text, "base64url").toString()));
  } catch {
    return undefined;
  }
}
