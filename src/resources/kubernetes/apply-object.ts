import { API_VERSION, type ObjectIntent } from "../../apis/index.ts";
import { type ApiObject, apiPath, isApiError, type KubernetesClient, PATCH_TYPES } from "../../kubernetes/index.ts";
import { isSharedMap, type ManagedFields } from "./applied-fields.ts";
import { kindResource } from "./kind-resource.ts";
import { nulledMaps } from "./server-faults.ts";
import { writableMetadata } from "./writable-metadata.ts";

export interface ApplyOptions {
  readonly manager: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly absent?: boolean;
}

/**
 * A version that no object ever has: that of the empty etcd. Server-side apply compares versions when there is an
 * object and does not when it creates one, so with this version it creates or fails, in one request.
 */
const VERSION_OF_NONE = "1";

const TRIES = 5;

type ManagedObject = ApiObject & { readonly metadata: { readonly managedFields?: readonly ManagedFields[] } };

/**
 * Server-side apply, forced; one request. An API server refuses to empty a map (it leaves null behind, which fits no
 * schema): the map is removed by a patch then, and the apply repeated.
 *
 * @throws ApiError
 */
export async function applyObject(
  client: KubernetesClient,
  intent: ObjectIntent,
  options: ApplyOptions,
): Promise<ApiObject> {
  let resourceVersion = options.absent ? VERSION_OF_NONE : options.resourceVersion;
  for (let left = TRIES; ; left -= 1) {
    try {
      return await send(client, intent, { ...options, resourceVersion });
    } catch (error) {
      const maps = isApiError(error, 422) ? nulledMaps(error) : [];
      if (left === 1 || maps.length === 0) throw error;
      const version = await removeMaps(client, intent, options, maps).catch((fault: unknown) => {
        // Somebody wrote between the look and the removal: what is there now is judged anew.
        if (isApiError(fault, 409) && options.resourceVersion === undefined) return resourceVersion;
        throw fault;
      });
      if (resourceVersion !== undefined) resourceVersion = version;
    }
  }
}

function send(
  client: KubernetesClient,
  { kind, metadata, spec }: ObjectIntent,
  { manager, uid, resourceVersion }: Omit<ApplyOptions, "resourceVersion"> & { resourceVersion: string | undefined },
): Promise<ApiObject> {
  return client.request<ApiObject>({
    method: "PATCH",
    path: apiPath(kindResource(kind), metadata),
    query: { fieldManager: manager, force: true },
    contentType: PATCH_TYPES.apply,
    body: {
      apiVersion: API_VERSION,
      kind,
      metadata: { ...writableMetadata(metadata), uid, resourceVersion },
      // An empty spec would be owned, and emptied on leaving it out.
      ...(Object.keys(spec).length > 0 && { spec }),
    },
  });
}

/** Removes maps in which nobody else has anything, from the version that was judged; which version is there then. */
async function removeMaps(
  client: KubernetesClient,
  { kind, metadata }: ObjectIntent,
  { manager, uid, resourceVersion }: ApplyOptions,
  maps: readonly (readonly string[])[],
): Promise<string> {
  const path = apiPath(kindResource(kind), metadata);
  const live = await client.request<ManagedObject>({ method: "GET", path });
  const version = live.metadata.resourceVersion ?? "";
  const emptied = maps.filter((map) => !isSharedMap(live.metadata.managedFields ?? [], manager, map));
  if (emptied.length === 0) return version;
  const patched = await client.request<ApiObject>({
    method: "PATCH",
    path,
    query: { fieldManager: manager },
    contentType: PATCH_TYPES.merge,
    body: emptied.reduce(withNull, { metadata: { uid, resourceVersion: resourceVersion ?? version } }),
  });
  return patched.metadata.resourceVersion ?? "";
}

type Json = Record<string, unknown>;

function withNull(body: Json, [first = "", ...rest]: readonly string[]): Json {
  return { ...body, [first]: rest.length === 0 ? null : withNull((body[first] ?? {}) as Json, rest) };
}
