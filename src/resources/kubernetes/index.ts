export * from "./open-kubernetes-store.ts";
