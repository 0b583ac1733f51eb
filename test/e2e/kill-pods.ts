import { API_RESOURCES, type ApiObject, apiPath } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import type { E2eCluster } from "./open-cluster.ts";

/** Of all pods of a node: they start one after the other. */
export const RECOVERS_WITHIN_MS = 180_000;

interface PodObject extends ApiObject {
  readonly status: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Kills all that run in the namespace. Resolves when as many others are ready. */
export async function killPods({ client }: E2eCluster, namespace: string): Promise<void> {
  const path = apiPath(API_RESOURCES.Pod, { namespace });
  const pods = async () => {
    const { items } = await client.request<{ items: PodObject[] }>({ method: "GET", path });
    // Runs of jobs that ended stay as they are.
    return items.filter(({ status }) => status.phase !== "Succeeded" && status.phase !== "Failed");
  };
  const before = await pods();
  const killed = new Set(before.map(({ metadata }) => metadata.uid));
  const count = before.filter(({ metadata }) => !metadata.deletionTimestamp).length;
  await client.request({ method: "DELETE", path, query: { gracePeriodSeconds: 0 } });
  const isReady = ({ metadata, status }: PodObject) =>
    !killed.has(metadata.uid) && status.conditions?.some((each) => each.type === "Ready" && each.status === "True");
  const areBack = (seen: PodObject[]) => seen.length === count && seen.every(isReady);
  await eventually(`the pods of ${namespace} are back`, pods, areBack, RECOVERS_WITHIN_MS);
}
