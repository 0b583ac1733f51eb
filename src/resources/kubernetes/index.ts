export * from "./installed-kinds.ts";
export * from "./open-kubernetes-store.ts";
export * from "./release-objects.ts";
export * from "./without-removals.ts";
