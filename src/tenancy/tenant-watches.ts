import { deployNamespaceOf, MANAGED_SELECTOR } from "../apis/index.ts";
import type { ControllerLog, TimerClock } from "../controller/index.ts";
import {
  API_RESOURCES,
  type ApiObject,
  type KubernetesClient,
  type ObjectWatch,
  watchResource,
} from "../kubernetes/index.ts";
import { OBJECT_NAME, type Wanted } from "./wanted-objects.ts";

const POLICY_KINDS = ["NetworkPolicy", "ResourceQuota", "LimitRange"] as const;
const KINDS = ["Namespace", ...POLICY_KINDS] as const;
type WatchedKind = (typeof KINDS)[number];

/** What sless made for tenants, in memory. */
export interface TenantWatches {
  start(signal: AbortSignal): Promise<void>;
  liveOf(wanted: Wanted): ApiObject | undefined;
  /** All that is there of a tenant; the very same objects as long as nothing of it changes. */
  livesOf(tenant: string): (ApiObject | undefined)[];
  /** Policies of a tenant that are there and not among the wanted ones. */
  unwantedOf(
    tenant: string,
    wanted: readonly Wanted[],
  ): { readonly resource: Wanted["resource"]; readonly live: ApiObject }[];
  /** The quota of what is written in a user's namespace. */
  objectsQuotaOf(tenant: string): ApiObject | undefined;
  namespaces(): Iterable<ApiObject>;
  observe(object: ApiObject): void;
  /** Hears of what comes, changes or goes, each with the labels that it has or had. */
  onChange(listener: (object: ApiObject) => void): () => void;
}

export function watchTenants(
  client: KubernetesClient,
  options: { clock: TimerClock; log: ControllerLog },
): TenantWatches {
  const watches = new Map<string, ObjectWatch<ApiObject>>(
    KINDS.map((kind) => [
      kind,
      watchResource<ApiObject>(client, API_RESOURCES[kind], { labelSelector: MANAGED_SELECTOR, ...options }),
    ]),
  );
  const of = (kind: WatchedKind) => watches.get(kind)!;
  return {
    start: async (signal) => void (await Promise.all(Array.from(watches.values(), (watch) => watch.start(signal)))),
    liveOf: ({ resource, object: { metadata } }) => watches.get(resource.kind)?.get(metadata.namespace, metadata.name),
    livesOf: (tenant) => [
      of("Namespace").get(undefined, deployNamespaceOf(tenant)),
      ...POLICY_KINDS.map((kind) => of(kind).get(deployNamespaceOf(tenant), OBJECT_NAME)),
    ],
    unwantedOf(tenant, wanted) {
      const kinds = new Set(wanted.map(({ resource }) => resource.kind));
      return POLICY_KINDS.filter((kind) => !kinds.has(kind)).flatMap((kind) => {
        const live = of(kind).get(deployNamespaceOf(tenant), OBJECT_NAME);
        return live ? [{ resource: API_RESOURCES[kind], live }] : [];
      });
    },
    objectsQuotaOf: (tenant) => of("ResourceQuota").get(tenant, OBJECT_NAME),
    namespaces: () => of("Namespace").all(),
    observe: (object) => watches.get(object.kind ?? "")?.observe(object),
    onChange(listener) {
      const stops = KINDS.map((kind) =>
        of(kind).onChange((object, before, isGone) => listener(isGone ? (before ?? object) : object)),
      );
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
