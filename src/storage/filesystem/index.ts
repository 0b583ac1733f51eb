export * from "./filesystem-store.ts";
