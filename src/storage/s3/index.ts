export * from "./s3-store.ts";
