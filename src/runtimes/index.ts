export * from "./expand-command.ts";
export * from "./find-interpreter.ts";
export * from "./load-runtimes.ts";
export * from "./runtime.ts";
