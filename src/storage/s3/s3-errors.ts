import { S3ServiceException } from "@aws-sdk/client-s3";
import { isSlessError, messageOf, SlessError } from "../../errors/index.ts";

/** The server answered with that HTTP status. */
export function isS3Status(error: unknown, ...statuses: number[]): boolean {
  return error instanceof S3ServiceException && statuses.includes(error.$metadata.httpStatusCode ?? 0);
}

/** There is no such object. Answers without a body do not tell whether there is a bucket. */
export function isAbsent(error: unknown): boolean {
  return isS3Status(error, 404) && (error as Error).name !== "NoSuchBucket";
}

export function isS3Error(error: unknown, name: string): boolean {
  return error instanceof S3ServiceException && error.name === name;
}

/**
 * What S3 refuses as `storage_unavailable`: the server's own code and words, and what to look at where that is known.
 * Errors of ours go on as they are.
 */
export function s3Failure(what: string, error: unknown): SlessError {
  if (isSlessError(error)) return error;
  return new SlessError("storage_unavailable", { what, cause: causeOf(error) }, { cause: error });
}

const CLOCK_ERRORS = ["RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"];
const EXPIRED_ERRORS = ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"];
const WORDS_MAX = 500;

function causeOf(error: unknown): string {
  if (!(error instanceof S3ServiceException)) return connectionCause(error);
  const { httpStatusCode = 0 } = error.$metadata;
  if (error.name === "NoSuchBucket") return "the bucket does not exist; make it, or correct S3_BUCKET";
  if (CLOCK_ERRORS.includes(error.name))
    return `the clocks of this machine and of the S3 server differ too much (${error.name}); set both right`;
  if (httpStatusCode === 301) return `${wordsOf(error)}; check S3_REGION and S3_ENDPOINT`;
  if (httpStatusCode === 401 || httpStatusCode === 403 || error.name === "InvalidAccessKeyId")
    return `the S3 server refused the credentials (${wordsOf(error)}); check S3_ACCESS_KEY, S3_SECRET_KEY and the bucket's policy`;
  if (EXPIRED_ERRORS.includes(error.name))
    return `the S3 server says that the credentials have expired (${error.name}); give sless new ones`;
  return wordsOf(error);
}

/** The answer to a HEAD has no body, and so no words. */
function wordsOf({ name, message, $metadata }: S3ServiceException): string {
  if (!message || message === "UnknownError") return `the S3 server answered ${$metadata.httpStatusCode}`;
  return `${name}: ${message.slice(0, WORDS_MAX).replace(/\.$/, "")}`;
}

/** What Node and the SDK say of connections that fail. */
function connectionCause(error: unknown): string {
  const { name, code } = error as { name?: unknown; code?: unknown };
  // The SDK calls these a TimeoutError too.
  if (code === "ECONNRESET" || code === "EPIPE") return "the connection to the S3 server broke";
  if (name === "TimeoutError") return "the S3 server did not answer in time";
  if (name === "CredentialsProviderError") return "there are no credentials; set S3_ACCESS_KEY and S3_SECRET_KEY";
  // The SDK cannot read what answered, and says so in words for programmers.
  if (error instanceof Error && "$response" in error) return "the answer is none of an S3 server; check S3_ENDPOINT";
  return messageOf(error) || "no answer from the S3 server";
}
