import { onTestFinished } from "vitest";
import { type EmbeddedStore, openEmbeddedStore } from "../../src/resources/embedded/index.ts";

/** An empty ResourceStore that keeps nothing on disk and is closed when the test ends. */
export async function memoryStore(options?: { clock?: { now(): Date } }): Promise<EmbeddedStore> {
  const store = await openEmbeddedStore(":memory:", options);
  onTestFinished(() => store.close());
  return store;
}
