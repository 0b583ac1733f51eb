export { claimingStore } from "./claiming-store.ts";
export type { GarbageCount, GarbageItem, GarbageReport } from "./garbage-report.ts";
export type { LocalImages, StoredImage } from "./local-image-shelf.ts";
export { createGarbage, type Garbage, type GarbageOptions, startGarbage } from "./start-garbage.ts";
