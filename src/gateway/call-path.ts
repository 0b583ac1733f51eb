import { isNamespaceName, isObjectName } from "../apis/index.ts";

/** Below this path of the server every request is a call of a function. */
export const CALL_PREFIX = "/fn/";

/** Whom a request calls, and with what. */
export interface CallPath {
  readonly namespace: string;
  readonly name: string;
  /** `/fn/{ns}/{name}`, for `X-Forwarded-Prefix`; undefined when the host alone names the function. */
  readonly prefix?: string;
  /** Path and query below the name exactly as they were sent, `/` at least. */
  readonly path: string;
}

const CALL = /^\/fn\/([^/?]+)\/([^/?]+)(\/[^?]*)?(\?.*)?$/s;

/**
 * Splits a request target. Names are compared as they stand: an encoded name is no name, so nothing is decoded
 * twice and no `%2f` or `..` can name another function. Undefined for all that is no address of a function. Pure.
 */
export function parseCallPath(target: string): CallPath | undefined {
  const match = CALL.exec(target);
  if (!match) return undefined;
  const [, namespace = "", name = "", path = "/", query = ""] = match;
  if (!isWorkloadName(namespace, name)) return undefined;
  return { namespace, name, prefix: `${CALL_PREFIX}${namespace}/${name}`, path: path + query };
}

/** Both are what they must be, as they stand. */
export function isWorkloadName(namespace: string, name: string): boolean {
  return isNamespaceName(namespace) && isObjectName(name);
}

/** A host below `ingressHost` belongs to a function, or to nobody: whatever its path, it leads nowhere else. Pure. */
export function isCallHost(host: string | undefined, ingressHost: string): boolean {
  return labelsBelow(host, ingressHost) !== undefined;
}

/**
 * What a request to `{name}.{namespace}.<ingressHost>` calls: its path is the function's own. Undefined for every other
 * host. Pure.
 */
export function parseCallHost(host: string | undefined, target: string, ingressHost: string): CallPath | undefined {
  const labels = labelsBelow(host, ingressHost)?.split(".") ?? [];
  const [name = "", namespace = ""] = labels;
  if (labels.length !== 2 || !isWorkloadName(namespace, name) || !target.startsWith("/")) return undefined;
  return { namespace, name, path: target };
}

/** Host names are the same in any case, with a port and with the final dot of the root. */
function labelsBelow(host: string | undefined, ingressHost: string): string | undefined {
  const plain = host?.toLowerCase().replace(/\.?(:\d*)?$/, "");
  const suffix = `.${ingressHost}`;
  return plain?.endsWith(suffix) ? plain.slice(0, -suffix.length) : undefined;
}
