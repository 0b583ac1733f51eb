import { randomBytes } from "node:crypto";
import {
  API_RESOURCES,
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
} from "../../src/kubernetes/index.ts";

/** A name that nobody else has. */
export function freshName(prefix = "tenant"): string {
  return `${prefix}-${randomBytes(6).toString("hex")}`;
}

export type Kind = keyof typeof API_RESOURCES;
// biome-ignore lint/suspicious/noExplicitAny: tests read what they asked for
export type Live = ApiObject & { spec: any; status?: any; subjects?: any; roleRef?: any };

/** An object of the cluster; undefined when it is not there. */
export async function read(
  client: KubernetesClient,
  kind: Kind,
  name: string,
  namespace?: string,
): Promise<Live | undefined> {
  try {
    return await client.request<Live>({ method: "GET", path: apiPath(API_RESOURCES[kind], { name, namespace }) });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}

export function create(
  client: KubernetesClient,
  kind: Kind,
  metadata: ApiObject["metadata"],
  rest: object = {},
): Promise<Live> {
  const path = apiPath(API_RESOURCES[kind], { namespace: metadata.namespace });
  return client.request<Live>({ method: "POST", path, body: { metadata, ...rest } });
}

/** As `kubectl edit` does. */
export function edit(
  client: KubernetesClient,
  kind: Kind,
  { name, namespace }: ApiObject["metadata"],
  patch: object,
): Promise<Live> {
  const path = apiPath(API_RESOURCES[kind], { name, namespace });
  return client.request<Live>({ method: "PATCH", path, body: patch, contentType: "application/merge-patch+json" });
}

export async function remove(
  client: KubernetesClient,
  kind: Kind,
  { name, namespace }: ApiObject["metadata"],
): Promise<void> {
  await client.request({ method: "DELETE", path: apiPath(API_RESOURCES[kind], { name, namespace }) });
}
