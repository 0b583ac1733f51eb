export { limitText } from "./limit-text.ts";
export * from "./redact-urls.ts";
export * from "./sless-error.ts";
export * from "./table.ts";
