export * from "./git-reader.ts";
export * from "./ignore-rules.ts";
export * from "./lfs-pointer.ts";
export * from "./link-escapes.ts";
export * from "./read-trees-below.ts";
export * from "./source-digest.ts";
