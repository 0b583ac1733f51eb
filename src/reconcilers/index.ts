export * from "./object-informers.ts";
export * from "./start-reconcilers.ts";
