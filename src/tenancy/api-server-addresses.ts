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
  readonly ports?: readonly { readonly port?: number | null }[] | null;
}

export interface ApiServerAddress {
  readonly address: string;
  /** Where it listens, in ascending order; none where the address is the API server's alone, as that of a Service is. */
  readonly ports: readonly number[];
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
export async function readApiServerAddresses(client: KubernetesClient): Promise<ApiServerAddress[]> {
  const [service, slices] = await Promise.all([
    readService(client),
    listObjects<EndpointSlice>(client, API_RESOURCES.EndpointSlice, API_SERVER_SLICES),
  ]);
  const ports = portsOf(slices.items);
  for (const address of service?.spec?.clusterIPs ?? []) if (address !== "None") ports.set(address, new Set());
  return [...ports.keys()]
    .sort()
    .map((address) => ({ address, ports: [...ports.get(address)!].sort((a, b) => a - b) }));
}

function portsOf(slices: readonly EndpointSlice[]): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  for (const { endpoints, ports } of slices) {
    const numbers = (ports ?? []).flatMap(({ port }) => port ?? []);
    for (const address of (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []))
      found.set(address, new Set([...(found.get(address) ?? []), ...numbers]));
  }
  return found;
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
