export * from "./find-program.ts";
export * from "./last-lines.ts";
export * from "./line-splitter.ts";
export * from "./local-image.ts";
export * from "./log-file.ts";
export * from "./process-supervisor.ts";
export * from "./read-output.ts";
