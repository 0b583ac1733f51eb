export { isLeftToPatch, type ManifestPlace, ownedRefusal } from "./ownership.ts";
export { type FieldFault, type OwningPlace, RefusedRequest, refuseFields } from "./refused-request.ts";
export type { WrittenKind } from "./rest-fields.ts";
export { type UploadedSource, type UploadRequest, uploadedSource } from "./uploaded-source.ts";
export { createdIntent, type Known, merge, replacement, type WantedChange } from "./wanted-object.ts";
