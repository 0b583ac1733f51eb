export * from "./open-embedded-store.ts";
