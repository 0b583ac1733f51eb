export * from "./builder.ts";
export type * from "./image-jobs.ts";
