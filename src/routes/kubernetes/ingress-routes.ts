import type { TimerClock } from "../../controller/clock.ts";
import { SlessError } from "../../errors/index.ts";
import {
  API_RESOURCES,
  apiPath,
  isApiError,
  type KubernetesClient,
  listObjects,
  PATCH_TYPES,
  watchResource,
} from "../../kubernetes/index.ts";
import type { Routes } from "../routes.ts";
import {
  type Ingress,
  type IngressSettings,
  ingressName,
  ingressOf,
  isAsWanted,
  ROUTE_SELECTOR,
  targetOf,
} from "./ingress.ts";

export interface IngressRoutesOptions extends IngressSettings {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly log?: { warn(fields: object, message: string): void };
}

export interface IngressRoutes extends Routes {
  /** Follows the Ingresses until the signal aborts; resolves when they are in memory. */
  start(signal: AbortSignal): Promise<void>;
}

const FIELD_MANAGER = "sless-reconciler";
const { Ingress: INGRESS } = API_RESOURCES;

/** Routes as Ingresses of their own beside the gateway's Service, found by a watch. */
export function ingressRoutes(options: IngressRoutesOptions): IngressRoutes {
  const { client, clock, log, ...settings } = options;
  const { namespace } = settings;
  const following = { namespace, labelSelector: ROUTE_SELECTOR, clock, ...(log ? { log } : {}) };
  const watch = watchResource<Ingress>(client, INGRESS, following);
  /** Several reconcilers may want the same at once. */
  const underWay = new Map<string, Promise<void>>();

  async function publish(wanted: Ingress): Promise<void> {
    const live = watch.get(namespace, wanted.metadata.name);
    if (live && !live.metadata.deletionTimestamp && isAsWanted(wanted, live)) return;
    watch.observe(await applied(client, wanted));
  }
  return {
    start: watch.start,
    async publish(target) {
      const wanted = ingressOf(target, settings);
      const { name } = wanted.metadata;
      const running = underWay.get(name) ?? publish(wanted).finally(() => underWay.delete(name));
      underWay.set(name, running);
      return running;
    },
    async withdraw(target) {
      const live = watch.get(namespace, ingressName(target));
      if (live && !live.metadata.deletionTimestamp) await removed(client, live);
    },
    list: () => Array.from(watch.all(), targetOf).filter((target) => target !== undefined),
    onChange: (listener) =>
      watch.onChange((ingress) => {
        const target = targetOf(ingress);
        if (target) listener(target);
      }),
  };
}

/** Removes what an earlier start with hosts left, for a composition in which functions have none. */
export async function removeIngressRoutes(client: KubernetesClient, namespace: string): Promise<void> {
  const { items } = await told(() =>
    listObjects<Ingress>(client, INGRESS, { namespace, labelSelector: ROUTE_SELECTOR }),
  );
  for (const ingress of items) if (targetOf(ingress)) await removed(client, ingress);
}

function applied(client: KubernetesClient, ingress: Ingress): Promise<Ingress> {
  return told(() =>
    client.request<Ingress>({
      method: "PATCH",
      path: apiPath(INGRESS, ingress.metadata),
      query: { fieldManager: FIELD_MANAGER, force: true },
      contentType: PATCH_TYPES.apply,
      body: ingress,
    }),
  );
}

/** Deletes this very life of it. */
function removed(client: KubernetesClient, { metadata }: Ingress): Promise<void> {
  return told(async () => {
    try {
      await client.request({
        method: "DELETE",
        path: apiPath(INGRESS, metadata),
        body: { preconditions: { uid: metadata.uid } },
      });
    } catch (error) {
      if (!isApiError(error, 404) && !isApiError(error, 409)) throw error;
    }
  });
}

/** Runs requests; what the API server refuses is told in our terms. */
async function told<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!isApiError(error)) throw error;
    const code = error.status >= 500 || error.status === 429 ? "cluster_unavailable" : "cluster_refused";
    throw new SlessError(code, { cause: error.message }, { cause: error });
  }
}
