export * from "./process-platform.ts";
