export * from "./mend-object.ts";
export * from "./object-store.ts";
