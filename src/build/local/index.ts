export * from "./build-settings.ts";
export * from "./local-builder.ts";
