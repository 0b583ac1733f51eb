export * from "./decide-build.ts";
export { dependencyFault, type TextFault } from "./dependency-text.ts";
export { CONTEXT_FOLDERS, namesServer } from "./dockerfile.ts";
export * from "./image-paths.ts";
export * from "./plan-image.ts";
export { type BaseDigests, type DependencyFile, imageKey, originKey } from "./plan-keys.ts";
