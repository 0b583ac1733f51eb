export * from "./access.ts";
export type * from "./authority.ts";
export * from "./bearer-token.ts";
export * from "./request-auth.ts";
