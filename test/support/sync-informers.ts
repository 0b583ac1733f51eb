import { onTestFinished } from "vitest";
import type { Kind } from "../../src/apis/index.ts";
import { createInformer } from "../../src/controller/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import type { SyncInformers } from "../../src/sync/index.ts";

/** Informers of all that a sync controller follows, synced. They stop with the test, after what it started later. */
export async function syncInformers(store: ResourceStore, options: { readonly namespace?: string } = {}) {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const informer = <K extends Kind>(kind: K) => {
    const made = createInformer(store, kind, options);
    void made.start(stopping.signal);
    return made;
  };
  const informers = {
    repositories: informer("Repository"),
    functions: informer("Function"),
    services: informer("Service"),
    jobs: informer("FunctionJob"),
    triggers: informer("Trigger"),
  } satisfies SyncInformers;
  await Promise.all(Object.values(informers).map((one) => one.synced()));
  return informers;
}
