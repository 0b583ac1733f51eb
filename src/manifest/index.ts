export { type DocumentName, editManifest, type ManifestEdit } from "./edit-manifest.ts";
export { isYamlName, looksLikeManifest } from "./looks-like-manifest.ts";
export * from "./manifest.ts";
export * from "./parse-manifest.ts";
export { manifestFields, renderManifest } from "./render-manifest.ts";
