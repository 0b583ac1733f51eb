export * from "./desired-reader.ts";
export { type KnownObjects, NOTHING_KNOWN } from "./known-objects.ts";
export type { DesiredLimits } from "./limits.ts";
