export * from "./platform.ts";
export { truncateListed, truncateMessage } from "./truncate-message.ts";
