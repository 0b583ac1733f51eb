import {
  API_RESOURCES,
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
  PATCH_TYPES,
} from "../kubernetes/index.ts";
import type { Wanted } from "./wanted-objects.ts";

export interface NamespaceObject extends ApiObject {
  readonly status?: { readonly phase?: string };
}

const FIELD_MANAGER = "sless-tenancy";
/** Two applies that both make an object meet in the API server. */
const TRIES = 5;

/** @returns undefined when there is none */
export async function readNamespace(client: KubernetesClient, name: string): Promise<NamespaceObject | undefined> {
  try {
    return await client.request<NamespaceObject>({ method: "GET", path: apiPath(API_RESOURCES.Namespace, { name }) });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}

/** @returns undefined when somebody else made it first */
export async function createObject(
  client: KubernetesClient,
  { resource, object }: Wanted,
): Promise<ApiObject | undefined> {
  const { namespace } = object.metadata;
  try {
    return await client.request<ApiObject>({
      method: "POST",
      path: apiPath(resource, { namespace }),
      query: { fieldManager: FIELD_MANAGER },
      body: object,
    });
  } catch (error) {
    if (isApiError(error, 409) && error.reason === "AlreadyExists") return undefined;
    throw error;
  }
}

/** Server-side apply, forced. Of what cannot be changed (the role of a binding) the object is made anew. */
export async function applyObject(client: KubernetesClient, { resource, object }: Wanted): Promise<ApiObject> {
  const { name, namespace } = object.metadata;
  const path = apiPath(resource, { namespace, name });
  for (let left = TRIES; ; left -= 1) {
    try {
      return await client.request<ApiObject>({
        method: "PATCH",
        path,
        query: { fieldManager: FIELD_MANAGER, force: true },
        body: object,
        contentType: PATCH_TYPES.apply,
      });
    } catch (error) {
      if (left === 1) throw error;
      if (isApiError(error, 422) && resource === API_RESOURCES.RoleBinding) await deleteObject(client, path);
      else if (!isApiError(error, 409)) throw error;
    }
  }
}

async function deleteObject(client: KubernetesClient, path: string): Promise<void> {
  try {
    await client.request({ method: "DELETE", path });
  } catch (error) {
    if (!isApiError(error, 404)) throw error;
  }
}

/** Deletes this very object, if it is there still. */
export async function removeObject(
  client: KubernetesClient,
  { resource }: Pick<Wanted, "resource">,
  { metadata }: ApiObject,
): Promise<void> {
  const { name, namespace, uid } = metadata;
  try {
    await client.request({
      method: "DELETE",
      path: apiPath(resource, { namespace, name }),
      body: { preconditions: { uid } },
    });
  } catch (error) {
    if (!isApiError(error, 404) && !isApiError(error, 409)) throw error;
  }
}
