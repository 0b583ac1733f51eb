export * from "./builder.ts";
