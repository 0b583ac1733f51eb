export { approveDeletions, type HeldDeletion, heldDeletions } from "./approve-deletions.ts";
export type { SyncInformers } from "./cached-reads.ts";
export { lacksSource } from "./lacking-source.ts";
export { type LiveObjects, type LiveReads, storeReads } from "./live-reads.ts";
export { reconcileRepository } from "./reconcile-repository.ts";
export { requestSync } from "./request-sync.ts";
export { createSyncController, type SyncController, type SyncControllerDeps } from "./sync-controller.ts";
export type { SyncDeps } from "./sync-deps.ts";
export { createSyncMemory, type ManifestPlace, type SyncMemory } from "./sync-memory.ts";
