import { NAME_MAX_LENGTH, NAME_PATTERN, NAMESPACE_MAX_LENGTH, NAMESPACE_PATTERN } from "../apis/index.ts";

/** Below this path of the server every request is a call of a function. */
export const CALL_PREFIX = "/fn/";

/** Whom a URL below `/fn/` calls, and with what. */
export interface CallPath {
  readonly namespace: string;
  readonly name: string;
  /** `/fn/{ns}/{name}`, for `X-Forwarded-Prefix`. */
  readonly prefix: string;
  /** Path and query below the name exactly as they were sent, `/` at least. */
  readonly path: string;
}

const CALL = /^\/fn\/([^/?]+)\/([^/?]+)(\/[^?]*)?(\?.*)?$/s;
const namePattern = new RegExp(NAME_PATTERN);
const namespacePattern = new RegExp(NAMESPACE_PATTERN);

/**
 * Splits a request target. Names are compared as they stand: an encoded name is no name, so nothing is decoded
 * twice and no `%2f` or `..` can name another function. Undefined for all that is no address of a function. Pure.
 */
export function parseCallPath(target: string): CallPath | undefined {
  const match = CALL.exec(target);
  if (!match) return undefined;
  const [, namespace = "", name = "", path = "/", query = ""] = match;
  if (namespace.length > NAMESPACE_MAX_LENGTH || !namespacePattern.test(namespace)) return undefined;
  if (name.length > NAME_MAX_LENGTH || !namePattern.test(name)) return undefined;
  return { namespace, name, prefix: `${CALL_PREFIX}${namespace}/${name}`, path: path + query };
}
