import { messageOf, SlessError } from "../errors/index.ts";
import type { Endpoint } from "./endpoint-table.ts";

/** How a call to a replica ended without an answer, as far as it decides what the client is told. */
export interface FailureFacts {
  /** The call was beyond its own deadline. */
  readonly lapsed: boolean;
  /** Another call of the same replica was. */
  readonly neighbourLapsed: boolean;
  readonly cause: unknown;
}

const INVALID_REQUEST = /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/;
/** The answer was there, but is none: broken status line or headers, or values that no server may send. */
const INVALID_CODE = /^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|HPE_|ERR_HTTP_|ERR_INVALID_|ERR_OUT_OF_RANGE)/;
const INVALID_MESSAGE = /^bad (response|upgrade)/;

/** Answers with a status below 200 before the one that counts: there is use for a few. */
export const INTERIM_MAX = 100;

/** A replica sends interim answers without end, which nobody's reading slows down. */
export function tooManyInterim(): Error {
  return new Error(`bad response: more than ${INTERIM_MAX} interim answers`);
}

/**
 * What the client is told when a replica closed the connection before it answered: a blocked replica is ended at
 * the deadline of the call that blocks, so that call timed out and its neighbours were bystanders. Pure.
 */
export function failureOf({ workload, timeoutSec }: Endpoint, facts: FailureFacts): SlessError {
  const details = { namespace: workload.namespace, name: workload.name };
  const options = { cause: facts.cause };
  if (isInvalidRequest(facts.cause))
    return new SlessError("invalid_request", { cause: messageOf(facts.cause) }, options);
  if (facts.lapsed)
    return new SlessError("function_timeout", { ...details, seconds: timeoutSec, component: "its runtime" }, options);
  if (facts.neighbourLapsed) return new SlessError("replica_replaced", details, options);
  if (isInvalidResponse(facts.cause))
    return new SlessError("response_invalid", { ...details, cause: messageOf(facts.cause) }, options);
  return new SlessError("connection_refused", details, options);
}

/** The request was never sent, for no server would understand it. */
export function isInvalidRequest(cause: unknown): boolean {
  return INVALID_REQUEST.test(codeOf(cause));
}

function isInvalidResponse(cause: unknown): boolean {
  const isUnparsable = (cause as { name?: string }).name === "HTTPParserError";
  return isUnparsable || INVALID_CODE.test(codeOf(cause)) || INVALID_MESSAGE.test(messageOf(cause));
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : "";
}
