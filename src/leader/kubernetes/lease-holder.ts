import { isIPv6 } from "node:net";
import { isSlessError, SlessError } from "../../errors/index.ts";
import {
  API_RESOURCES,
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
  kubernetesLease,
} from "../../kubernetes/index.ts";
import type { LeaderAddress } from "../leader-client.ts";

export interface LeaseHolderOptions {
  readonly client: KubernetesClient;
  /** Of the Lease, and of the pods that candidate for it. */
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** On which every candidate listens. */
  readonly port: number;
}

interface PodObject extends ApiObject {
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

/** An identity in a Lease: the pod's name, and what tells one life of it from another. */
export function leaseIdentity(pod: string, life: string): string {
  return `${pod}_${life}`;
}

/**
 * The pod that holds a Lease, at the address that the API server tells of it: one that stood anywhere else could by now
 * be another pod's, which would be shown our token.
 */
export function leaseHolder({ client, namespace, name, port }: LeaseHolderOptions): LeaderAddress {
  const lease = kubernetesLease(client, { namespace, name });

  async function podOf(holder: string, signal: AbortSignal): Promise<PodObject | undefined> {
    const [pod = ""] = holder.split("_", 1);
    try {
      const path = apiPath(API_RESOURCES.Pod, { namespace, name: pod });
      return await client.request<PodObject>({ method: "GET", path, signal });
    } catch (error) {
      if (isApiError(error, 404)) return undefined;
      throw error;
    }
  }

  async function find(signal: AbortSignal): Promise<string> {
    const holder = (await lease.read(signal))?.record.holder;
    if (!holder) throw new SlessError("controller_unreachable", { cause: "none leads now" });
    const { phase, podIP } = (await podOf(holder, signal))?.status ?? {};
    // A pod that ended keeps its address in its status, while others may have it.
    if (phase !== "Running" || !podIP)
      throw new SlessError("controller_unreachable", { cause: "the pod of the one that led does not run" });
    return `http://${isIPv6(podIP) ? `[${podIP}]` : podIP}:${port}`;
  }

  return {
    find: (signal) =>
      find(signal).catch((error: unknown) => {
        if (isSlessError(error, "controller_unreachable")) throw error;
        const cause = "it could not be asked which one leads";
        throw new SlessError("controller_unreachable", { cause }, { cause: error });
      }),
  };
}
