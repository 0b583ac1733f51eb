export * from "./action.ts";
export * from "./desired-state.ts";
