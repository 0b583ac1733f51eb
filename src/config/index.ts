export * from "./build-environment.ts";
export * from "./settings.ts";
