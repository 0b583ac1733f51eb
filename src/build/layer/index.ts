export * from "./append-image.ts";
export * from "./layer.ts";
