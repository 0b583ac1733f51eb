import type { HeldLease, LeaseRecord, LeaseStore } from "../controller/lease-store.ts";
import { isApiError } from "./api-error.ts";
import { API_RESOURCES, type ApiObject, apiPath } from "./api-resource.ts";
import { type KubernetesClient, PATCH_TYPES } from "./kubernetes-client.ts";

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/ */
interface LeaseObject extends ApiObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/**
 * A Lease of coordination.k8s.io, as every leader of Kubernetes has one; made when it is not there.
 *
 * @param client one of its own: a renewal must not wait behind a thousand other requests of a rate limit
 * @throws ApiError, SlessError `cluster_unavailable`
 */
export function kubernetesLease(
  client: KubernetesClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): LeaseStore {
  const path = apiPath(API_RESOURCES.Lease, { namespace, name });
  return {
    async read(signal) {
      try {
        return heldLease(await client.request<LeaseObject>({ method: "GET", path, signal }));
      } catch (error) {
        if (isApiError(error, 404)) return undefined;
        throw error;
      }
    },
    async write(record, version, signal) {
      const spec = specOf(record);
      const request =
        version === undefined
          ? ({
              method: "POST",
              path: apiPath(API_RESOURCES.Lease, { namespace }),
              body: { metadata: { name }, spec },
            } as const)
          : // The version makes it a compare-and-swap; what else stands there is not ours.
            ({
              method: "PATCH",
              path,
              contentType: PATCH_TYPES.merge,
              body: { metadata: { resourceVersion: version }, spec },
            } as const);
      try {
        const written = await client.request<LeaseObject>({ ...request, signal });
        return written.metadata.resourceVersion;
      } catch (error) {
        // Another was faster, or deleted it.
        if (isApiError(error, 409) || (version !== undefined && isApiError(error, 404))) return undefined;
        throw error;
      }
    },
  };
}

function heldLease({ metadata, spec = {} }: LeaseObject): HeldLease {
  return {
    version: metadata.resourceVersion!,
    record: {
      holder: spec.holderIdentity ?? "",
      durationSec: spec.leaseDurationSeconds ?? 0,
      acquireTime: isoText(spec.acquireTime),
      renewTime: isoText(spec.renewTime),
      transitions: spec.leaseTransitions ?? 0,
    },
  };
}

function specOf({ holder, durationSec, acquireTime, renewTime, transitions }: LeaseRecord): object {
  return {
    holderIdentity: holder === "" ? null : holder,
    leaseDurationSeconds: durationSec,
    acquireTime: microTime(acquireTime),
    renewTime: microTime(renewTime),
    leaseTransitions: transitions,
  };
}

/** MicroTime wants exactly six digits of a second. */
function microTime(time: string): string {
  return time.replace(/\.(\d{3})Z$/, ".$1000Z");
}

function isoText(time: string | undefined): string {
  return time === undefined ? "" : time.replace(/\.(\d{3})\d*Z$/, ".$1Z");
}
