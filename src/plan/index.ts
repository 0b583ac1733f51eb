export * from "./action.ts";
export { type Applier, appliedHash, appliedIntent } from "./applied-intent.ts";
export { DEFAULT_GUARD, type DeletionGuard } from "./deletion-guard.ts";
export * from "./desired-state.ts";
export { nameClashes } from "./name-clashes.ts";
export * from "./plan-changes.ts";
