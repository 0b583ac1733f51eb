export * from "./cluster.ts";
