export { hindranceOf } from "./hindrance.ts";
export * from "./platform.ts";
export { truncateListed, truncateMessage } from "./truncate-message.ts";
