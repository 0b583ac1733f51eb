export { limitText } from "./limit-text.ts";
export * from "./sless-error.ts";
export * from "./table.ts";
