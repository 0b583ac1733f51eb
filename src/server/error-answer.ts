import type { FastifyError } from "fastify";
import { ERRORS, type ErrorCode, isSlessError, SlessError } from "../errors/index.ts";
import { type FieldFault, type OwningPlace, RefusedRequest } from "../writes/index.ts";

/** The body of every error of the REST API. */
export interface ErrorBody {
  readonly error: string;
  readonly code: ErrorCode;
  /** What is wrong with each field; of an object that a repository owns, where it stands there. */
  readonly details: readonly (FieldFault | OwningPlace)[];
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorBody;
  /** Nobody outside is at fault: to be logged, for the answer says nothing of it. */
  readonly unexpected: boolean;
}

/** Logged where they happen, once a minute: anybody can send as many of these as they like. */
const LOGGED_ALREADY: readonly ErrorCode[] = ["hooks_busy", "hooks_unavailable"];

export function slessAnswer(error: SlessError): ErrorAnswer {
  const details = error instanceof RefusedRequest ? error.reasons : [];
  return { status: error.status, body: { error: error.message, code: error.code, details }, unexpected: false };
}

/** Anything that a handler or fastify threw, as an answer: what a client sent wrongly is never a 500. */
export function errorAnswer(error: FastifyError | SlessError | Error, requestId: string): ErrorAnswer {
  if (isSlessError(error))
    return { ...slessAnswer(error), unexpected: error.status >= 500 && !LOGGED_ALREADY.includes(error.code) };
  const status = "statusCode" in error ? (error.statusCode ?? 500) : 500;
  if ("validation" in error && error.validation) return slessFaults(error.validation.map(toFault));
  if (status === 415) return { ...slessFaults([WANTS_JSON]), status };
  if (status >= 400 && status < 500)
    return { ...slessAnswer(new SlessError("invalid_request", { cause: trimmed(error.message) })), status };
  const cause = `an unexpected error, request id ${requestId}`;
  return { ...slessAnswer(new SlessError("internal", { cause })), unexpected: true };
}

const WANTS_JSON = { field: "", message: "the body wants JSON, sent with the header content-type: application/json" };

function slessFaults(details: readonly FieldFault[]): ErrorAnswer {
  const cause = details.map(({ field, message }) => (field ? `${field} ${message}` : message)).join("; ");
  const { message, code } = new SlessError("invalid_request", { cause });
  return { status: ERRORS.invalid_request.status, body: { error: message, code, details }, unexpected: false };
}

interface ValidationFault {
  readonly instancePath: string;
  readonly message?: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

function toFault({ instancePath, message, keyword, params }: ValidationFault): FieldFault {
  const field = instancePath.slice(1);
  if (keyword === "additionalProperties")
    return { field: [field, params.additionalProperty].filter(Boolean).join("/"), message: "is no known field" };
  if (keyword === "enum") return { field, message: `must be one of ${(params.allowedValues as unknown[]).join(", ")}` };
  return { field, message: message ?? "is not valid" };
}

function trimmed(message: string): string {
  return message.replace(/\.$/, "").slice(0, 500);
}
