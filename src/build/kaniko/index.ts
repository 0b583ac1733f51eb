export * from "./fetch-context.ts";
export * from "./push-layout.ts";
