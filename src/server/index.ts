export * from "./create-server.ts";
export * from "./event-ring.ts";
export type { SecretItem } from "./items.ts";
export * from "./metrics.ts";
export type * from "./namespaces.ts";
export * from "./request-guard.ts";
export type * from "./secret-store.ts";
export type * from "./server-deps.ts";
export * from "./upload-folder.ts";
