export * from "./build-environment.ts";
export * from "./cluster-settings.ts";
export type * from "./image-settings.ts";
export * from "./settings.ts";
export * from "./store-settings.ts";
