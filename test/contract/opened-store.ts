import type { ResourceStore } from "../../src/resources/index.ts";

/** A store and two namespaces that are empty when a test begins. */
export interface OpenedStore {
  store: ResourceStore;
  namespace: string;
  otherNamespace: string;
}
