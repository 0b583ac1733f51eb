export { blobBatches, sizesInBulk } from "./bulk.ts";
export { type DependencyFileRead, readDependencyFiles } from "./dependency-files.ts";
export * from "./desired-reader.ts";
export { type KnownObjects, knownObjects, NOTHING_KNOWN } from "./known-objects.ts";
export type { DesiredLimits } from "./limits.ts";
export {
  type Definitions,
  type DefinitionsRequest,
  type PlacedDefinition,
  readDefinitions,
} from "./read-definitions.ts";
export { readWholeSource, type WholeSource, type WholeSourceRequest } from "./read-whole-source.ts";
