export * from "./scheduler.ts";
