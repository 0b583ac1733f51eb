export { type EmbeddedStore, openEmbeddedStore } from "./open-embedded-store.ts";
