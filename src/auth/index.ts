export * from "./access.ts";
export * from "./account.ts";
export type * from "./authority.ts";
export * from "./bearer-token.ts";
export * from "./internal-port.ts";
export * from "./request-auth.ts";
export { tokenFile } from "./token-file.ts";
