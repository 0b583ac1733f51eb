export * from "./create-server.ts";
export * from "./metrics.ts";
export * from "./request-guard.ts";
export type * from "./server-deps.ts";
