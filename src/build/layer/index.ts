export * from "./append-image.ts";
export * from "./image-manifest.ts";
export * from "./layer.ts";
export * from "./tar-entry.ts";
