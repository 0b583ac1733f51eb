import type { Builder } from "../../build/index.ts";
import { type Garbage, startGarbage } from "../../garbage/index.ts";
import { runningImages } from "../../garbage/kubernetes/index.ts";
import { API_RESOURCES, type ApiObject, apiPath, type KubernetesClient } from "../../kubernetes/index.ts";
import { clusterRegistries } from "./cluster-builder.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import type { ClusterParts } from "./cluster-parts.ts";

/** Collects sources and images that nothing on this cluster refers to any more. */
export async function startClusterGarbage(
  parts: ClusterParts,
  { stored }: ClusterObjects,
  builder: Pick<Builder, "forget">,
): Promise<Garbage> {
  const { settings, client, clock, log, directStore } = parts;
  const { registry: where } = settings;
  // Clients of its own: what those of the builder remember is not what is there.
  const registry = where && {
    registry: clusterRegistries(parts)(where.host),
    prefix: where.prefix,
    removed: (digest: string) => builder.forget?.(digest),
  };
  return startGarbage({
    ...settings.garbage,
    store: directStore,
    objects: stored,
    ...(registry ? { registry } : {}),
    running: () => runningImages(client),
    installation: await clusterId(client),
    clock,
    log,
  });
}

/** What tells one cluster from another: a bucket that two of them were given by mistake is not collected from. */
async function clusterId(client: KubernetesClient): Promise<string> {
  const path = apiPath(API_RESOURCES.Namespace, { name: "kube-system" });
  const { metadata } = await client.request<ApiObject>({ method: "GET", path });
  return metadata.uid ?? "";
}
