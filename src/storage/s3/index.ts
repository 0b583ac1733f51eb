export type { S3Options } from "./s3-client.ts";
export * from "./s3-store.ts";
