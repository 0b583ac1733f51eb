export * from "./merge-patch.ts";
export * from "./resource-store.ts";
