export * from "./image-builder.ts";
export { type KeptLogs, keptLogs } from "./kept-logs.ts";
