export { isYamlName, looksLikeManifest } from "./looks-like-manifest.ts";
export * from "./manifest.ts";
export * from "./parse-manifest.ts";
