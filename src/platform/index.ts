export * from "./platform.ts";
export { truncateMessage } from "./truncate-message.ts";
