export * from "./after-quiet.ts";
export type { BackOffOptions } from "./back-off.ts";
export * from "./clock.ts";
export * from "./controller.ts";
export * from "./informer.ts";
export * from "./log.ts";
export * from "./next.ts";
export type { IndexFunction } from "./object-cache.ts";
export * from "./work-queue.ts";
