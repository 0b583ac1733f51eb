export * from "./resource-store.ts";
