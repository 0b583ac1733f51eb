export * from "./runtime.ts";
