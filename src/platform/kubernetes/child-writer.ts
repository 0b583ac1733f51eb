import {
  API_RESOURCES,
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
  PATCH_TYPES,
} from "../../kubernetes/index.ts";
import { FIELD_MANAGER, type ManagedFields, withForeignFieldsTaken } from "./foreign-fields.ts";
import { liveMatches } from "./live-matches.ts";
import type { LiveChild } from "./live-objects.ts";
import type { Manifest } from "./manifest.ts";
import { CHILD_ANNOTATIONS } from "./names.ts";

/** Writes children by server-side apply, and only what differs. */
export interface ChildWriter {
  /** Whether the live object is other than wanted; false as well for what a write could not change. */
  differs(wanted: Manifest, live: LiveChild | undefined): boolean;
  /** @returns the object as it is now. @throws ApiError, SlessError `cluster_unavailable` */
  apply(wanted: Manifest, live: LiveChild | undefined): Promise<ApiObject>;
  /**
   * Deletes this very life of the object; one that is gone is no error. A ReplicaSet only as it was seen: Kubernetes may be
   * about to use it again.
   */
  remove(kind: Manifest["kind"] | "ReplicaSet", live: ApiObject): Promise<void>;
}

export function childWriter(client: KubernetesClient): ChildWriter {
  /** What the last write of a child led to: where an admission webhook changes it, writing again would never end. */
  const written = new Map<string, string>();

  return {
    differs(wanted, live) {
      if (!live) return true;
      if (live.metadata.annotations?.[CHILD_ANNOTATIONS.manifestHash] !== hashOf(wanted)) return true;
      const isEdited = live.isForeign === true || !liveMatches(comparable(wanted), live);
      return isEdited && written.get(pathOf(wanted)) !== outcomeOf(wanted, live);
    },
    async apply(wanted, live) {
      const path = pathOf(wanted);
      if (live?.isForeign) await takeForeignFields(client, path);
      const object = await client.request<ApiObject>({
        method: "PATCH",
        path,
        query: { fieldManager: FIELD_MANAGER, force: true },
        contentType: PATCH_TYPES.apply,
        body: wanted,
      });
      written.set(path, outcomeOf(wanted, object));
      return object;
    },
    async remove(kind, { metadata }) {
      const path = apiPath(API_RESOURCES[kind], metadata);
      const { uid, resourceVersion } = metadata;
      written.delete(path);
      try {
        await client.request({
          method: "DELETE",
          path,
          body: {
            propagationPolicy: "Background",
            preconditions: kind === "ReplicaSet" ? { uid, resourceVersion } : { uid },
          },
        });
      } catch (error) {
        // 409: another life has its name, or it is used again.
        if (!isApiError(error, 404) && !isApiError(error, 409)) throw error;
      }
    },
  };
}

/** Secrets are watched without their data; theirs is told by the hash. */
function comparable({ kind, ...wanted }: Manifest): object {
  return kind === "Secret" ? { metadata: wanted.metadata } : { ...wanted, apiVersion: undefined };
}

function hashOf({ metadata }: Manifest): string | undefined {
  return metadata.annotations[CHILD_ANNOTATIONS.manifestHash];
}

function outcomeOf(wanted: Manifest, { metadata }: ApiObject): string {
  return `${hashOf(wanted)} ${metadata.uid} ${metadata.resourceVersion}`;
}

function pathOf({ kind, metadata }: Manifest): string {
  return apiPath(API_RESOURCES[kind], metadata);
}

/** Kubernetes writes the status of a child that was just edited at about the same time. */
const TAKE_TRIES = 5;

/** Makes sless the manager of what others added, so that the apply that follows removes it. */
async function takeForeignFields(client: KubernetesClient, path: string): Promise<void> {
  for (let left = TAKE_TRIES; ; left -= 1) {
    try {
      return await takeOnce(client, path);
    } catch (error) {
      if (left === 1 || !isApiError(error, 409)) throw error;
    }
  }
}

async function takeOnce(client: KubernetesClient, path: string): Promise<void> {
  const { metadata } = await client.request<ApiObject & { metadata: { managedFields?: ManagedFields[] } }>({
    method: "GET",
    path,
  });
  await client.request({
    method: "PATCH",
    path,
    query: { fieldManager: FIELD_MANAGER },
    contentType: PATCH_TYPES.json,
    body: [
      { op: "replace", path: "/metadata/managedFields", value: withForeignFieldsTaken(metadata.managedFields ?? []) },
      // Another value than the present one is refused: a conflict.
      { op: "replace", path: "/metadata/resourceVersion", value: metadata.resourceVersion },
    ],
  });
}
