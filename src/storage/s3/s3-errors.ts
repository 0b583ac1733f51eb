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

function causeOf(error: unknown): string {
  if (!(error instanceof S3ServiceException)) return connectionCause(error);
  const { httpStatusCode = 0 } = error.$metadata;
  if (error.name === "NoSuchBucket") return "the bucket does not exist; make it, or correct S3_BUCKET";
  if (httpStatusCode === 401 || httpStatusCode === 403 || error.name === "InvalidAccessKeyId")
    return `the S3 server refused the credentials (${error.name}); check S3_ACCESS_KEY, S3_SECRET_KEY and the bucket's policy`;
  // The answer to a HEAD has no body, and so no words.
  return error.message && error.message !== "UnknownError"
    ? `${error.name}: ${error.message}`
    : `the S3 server answered ${httpStatusCode}`;
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
