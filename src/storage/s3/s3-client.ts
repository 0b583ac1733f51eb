import { S3Client } from "@aws-sdk/client-s3";

export interface S3Options {
  /** Of a store that is not AWS: `https://s3.example.org`. */
  readonly endpoint?: string;
  readonly bucket: string;
  /** Default `us-east-1`, which other stores than AWS accept. */
  readonly region?: string;
  /** Without them the SDK looks for the machine's own (roles, profiles). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** `https://host/bucket/key` instead of `https://bucket.host/key`; default true where an endpoint is given. */
  readonly forcePathStyle?: boolean;
  /** Tries of a request that the server did not answer or answered 429 or 5xx; default 4. */
  readonly maxAttempts?: number;
  /** Milliseconds to connect, and without a byte either way; default 5,000 and 30,000. */
  readonly timeoutMs?: { readonly connect?: number; readonly idle?: number };
}

export function s3Client(options: S3Options): S3Client {
  const { endpoint, credentials, timeoutMs = {} } = options;
  return new S3Client({
    region: options.region ?? "us-east-1",
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    ...(credentials ? { credentials } : {}),
    maxAttempts: options.maxAttempts ?? 4,
    // Bodies are checked as they are read, also over several connections, which the SDK cannot.
    responseChecksumValidation: "WHEN_REQUIRED",
    // Not `requestTimeout`: a large part over a slow link takes long, and bytes move all the time.
    requestHandler: { connectionTimeout: timeoutMs.connect ?? 5_000, socketTimeout: timeoutMs.idle ?? 30_000 },
  });
}
