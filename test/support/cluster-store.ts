import { onTestFinished } from "vitest";
import { type ClientOptions, type KubernetesClient, openKubernetesClient } from "../../src/kubernetes/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { openKubernetesStore } from "../../src/resources/kubernetes/index.ts";
import type { TestCluster } from "./kubernetes/index.ts";

/** A client as admin that is closed when the test ends; without a rate limit that a test would notice. */
export function clusterClient(cluster: TestCluster, options: Partial<ClientOptions> = {}): KubernetesClient {
  const client = openKubernetesClient({
    from: { file: cluster.kubeconfig },
    perSecond: 5_000,
    burst: 5_000,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** A ResourceStore on the cluster, as admin. */
export function clusterStore(
  cluster: TestCluster,
  options: Partial<ClientOptions> = {},
): { readonly store: ResourceStore; readonly client: KubernetesClient } {
  const client = clusterClient(cluster, options);
  return { store: openKubernetesStore({ client }), client };
}
