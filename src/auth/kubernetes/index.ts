export * from "./kubernetes-authority.ts";
