export * from "./leader.ts";
export { type LeaderAddress, type LeaderClient, leaderClient } from "./leader-client.ts";
export { createLeaderPort, type LeaderPortDeps } from "./leader-port.ts";
