export * from "./reporter.ts";
