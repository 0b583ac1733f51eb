export * from "./running-images.ts";
