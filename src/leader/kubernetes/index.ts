export * from "./lease-holder.ts";
