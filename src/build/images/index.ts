export * from "./image-builder.ts";
