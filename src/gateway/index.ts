export * from "./call-addresses.ts";
export type { FinishedCall } from "./call-ledger.ts";
export * from "./endpoint-table.ts";
export * from "./gateway.ts";
export * from "./gateway-client.ts";
export { hasBody } from "./http-sink.ts";
export type { InternalAnswer, InternalCall } from "./internal-call.ts";
export * from "./internal-server.ts";
export type { ForwardOptions } from "./outgoing-request.ts";
