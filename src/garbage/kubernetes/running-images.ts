import { MANAGED_SELECTOR } from "../../apis/index.ts";
import { API_RESOURCES, type ApiObject, type KubernetesClient, listObjects } from "../../kubernetes/index.ts";

interface Container {
  readonly image?: string;
}
interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}
interface LivePod extends ApiObject {
  readonly spec?: PodSpec;
}
interface LiveOwner extends ApiObject {
  readonly spec?: { readonly template?: { readonly spec?: PodSpec } };
}

const OURS = { labelSelector: MANAGED_SELECTOR };

/** Images of all that sless runs on a cluster, and of all that may start again: pods, Deployments and Jobs. */
export async function runningImages(client: KubernetesClient): Promise<string[]> {
  const { Pod, Deployment, Job } = API_RESOURCES;
  const [pods, deployments, jobs] = await Promise.all([
    listObjects<LivePod>(client, Pod, OURS),
    listObjects<LiveOwner>(client, Deployment, OURS),
    listObjects<LiveOwner>(client, Job, OURS),
  ]);
  const specs = [
    ...pods.items.map(({ spec }) => spec),
    ...[...deployments.items, ...jobs.items].map(({ spec }) => spec?.template?.spec),
  ];
  const images = specs.flatMap((spec) => [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]);
  return [...new Set(images.flatMap(({ image }) => (image === undefined ? [] : [image])))];
}
