import type { Kind } from "../../apis/index.ts";
import { messageOf } from "../../errors/index.ts";
import type { KubernetesClient } from "../../kubernetes/index.ts";
import type { ResourceStore } from "../../resources/index.ts";
import {
  type InstalledKinds,
  installedKinds,
  openKubernetesStore,
  releaseObjects,
  withoutRemovals,
} from "../../resources/kubernetes/index.ts";
import type { ClusterParts } from "./cluster-parts.ts";

/** Stores of the cluster's objects, which ask the API server each time. */
export interface ClusterStores {
  readonly kinds: InstalledKinds;
  open(client: KubernetesClient): ResourceStore;
}

/**
 * Whoever removes the CustomResourceDefinitions has not deleted the functions: none of these stores tells of it as that.
 *
 * @param releases this process may let the objects go that the removal waits for
 */
export function clusterStores(
  { client, log }: Pick<ClusterParts, "client" | "log">,
  { releases }: { readonly releases: boolean },
): ClusterStores {
  const onRemoval = releases ? releasing(openKubernetesStore({ client }), log) : undefined;
  const kinds = installedKinds({ client, ...(onRemoval ? { onRemoval } : {}) });
  return { kinds, open: (of) => withoutRemovals(openKubernetesStore({ client: of }), kinds) };
}

function releasing(store: ResourceStore, log: ClusterParts["log"]): (kind: Kind) => void {
  const busy = new Set<Kind>();
  return (kind) => {
    if (busy.has(kind)) return;
    busy.add(kind);
    log.warn({ kind }, "the kind is being removed from the cluster: its objects are let go, and what runs goes on");
    void releaseObjects(store, kind)
      .catch((error: unknown) => log.warn({ kind, err: messageOf(error) }, "objects of a removed kind not let go"))
      .finally(() => busy.delete(kind));
  };
}
