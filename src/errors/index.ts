export * from "./sless-error.ts";
export * from "./table.ts";
