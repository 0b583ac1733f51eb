export * from "./build-settings.ts";
export { openInterpreters } from "./interpreters.ts";
export * from "./local-builder.ts";
export { type ProcessJobs, processJobs } from "./process-jobs.ts";
export { type PulledImages, pulledImages } from "./pulled-images.ts";
export { type PullingBuilder, pullingBuilder } from "./pulling-builder.ts";
