import {
  API_RESOURCES,
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
  listObjects,
} from "../kubernetes/index.ts";

/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/ */
export interface EndpointSlice extends ApiObject {
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[] | null;
}

interface ServiceObject extends ApiObject {
  readonly spec?: { readonly clusterIPs?: readonly string[] };
}

/** Where every cluster tells how its API server is reached from within. */
export const API_SERVER_SLICES = {
  namespace: "default",
  labelSelector: "kubernetes.io/service-name=kubernetes",
} as const;

/** Addresses of the API server as pods see it: of its Service and of the servers behind it. Sorted. @throws ApiError */
export async function readApiServerAddresses(client: KubernetesClient): Promise<string[]> {
  const [service, slices] = await Promise.all([
    readService(client),
    listObjects<EndpointSlice>(client, API_RESOURCES.EndpointSlice, API_SERVER_SLICES),
  ]);
  const clusterIPs = (service?.spec?.clusterIPs ?? []).filter((address) => address !== "None");
  return sortedUnique([...clusterIPs, ...addressesOf(slices.items)]);
}

export function addressesOf(slices: Iterable<EndpointSlice>): string[] {
  return [...slices].flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []));
}

function sortedUnique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}

async function readService(client: KubernetesClient): Promise<ServiceObject | undefined> {
  const path = apiPath(API_RESOURCES.Service, { namespace: "default", name: "kubernetes" });
  try {
    return await client.request<ServiceObject>({ method: "GET", path });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}
