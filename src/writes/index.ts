export { isLeftToPatch, type ManifestPlace, ownedRefusal } from "./ownership.ts";
export { type FieldFault, type OwningPlace, RefusedRequest, refuseFields } from "./refused-request.ts";
export type { Known } from "./spec-faults.ts";
export { type UploadedSource, type UploadRequest, uploadedSource } from "./uploaded-source.ts";
export { createdIntent, merge, replacement, type WantedChange } from "./wanted-object.ts";
