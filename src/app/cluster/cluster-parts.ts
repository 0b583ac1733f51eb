import { join } from "node:path";
import type { Logger } from "pino";
import { KIND_NAMES, type Kind, type ObjectKey } from "../../apis/index.ts";
import type { Role } from "../../cli/index.ts";
import type { ClusterSettings } from "../../config/index.ts";
import { cachedStore, type TimerClock } from "../../controller/index.ts";
import { type CallAddresses, callAddresses } from "../../gateway/index.ts";
import { type ClientOptions, type OpenedClient, openKubernetesClient } from "../../kubernetes/index.ts";
import { createKubernetesEvents, type KubernetesEvents } from "../../kubernetes-events/index.ts";
import { createObjectInformers, type ObjectInformers } from "../../reconcilers/index.ts";
import type { ProgressEvent, Reporter } from "../../report/index.ts";
import type { ResourceStore } from "../../resources/index.ts";
import { type InstalledKinds, openKubernetesStore } from "../../resources/kubernetes/index.ts";
import { loadRuntimes, type Runtime } from "../../runtimes/index.ts";
import { createMetrics, type Metrics } from "../../server/index.ts";
import type { Closers } from "../closers.ts";
import { createLogger } from "../logger.ts";
import { versionOfSless } from "../version-of-sless.ts";
import { clusterStores } from "./cluster-stores.ts";
import { endpointObjects } from "./endpoint-objects.ts";

const ROOT = join(import.meta.dirname, "../../..");

export type ClientLimit = Pick<ClientOptions, "connections"> & Required<Pick<ClientOptions, "perSecond" | "burst">>;

/** What every role on a cluster is made of. */
export interface ClusterParts {
  readonly settings: ClusterSettings;
  readonly closers: Closers;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: TimerClock;
  readonly client: OpenedClient;
  /** Another client with a rate limit and connections of its own: what it sends waits behind nothing. */
  readonly openClient: (name: string, limit?: ClientLimit) => OpenedClient;
  /** Asks the API server each time. */
  readonly directStore: ResourceStore;
  /** Of those that the roles follow. */
  readonly kinds: InstalledKinds;
  /** Reads objects from memory, never behind this process's own writes. */
  readonly store: ResourceStore;
  /** The same for what follows from objects: its requests wait while those of syncs and people are under way. */
  readonly yieldingStore: ResourceStore;
  readonly informers: ObjectInformers;
  readonly events: KubernetesEvents;
  readonly report: Reporter;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  /** Of sless. */
  readonly version: string;
  readonly addresses: CallAddresses;
  /** Aborts when the process stops: ends all watches. */
  readonly watching: AbortSignal;
}

const FOLLOWED: Record<Role, readonly Kind[]> = {
  controller: KIND_NAMES,
  api: [],
  gateway: ["Function", "Service", "Trigger"],
};

/**
 * Opens what the roles share and follows the objects that they read; resolves once those are in memory, however long the
 * API server is away.
 *
 * @param from.givenUp ends the waiting: it rejects then, as whatever waits with `watching` does
 */
export async function openClusterParts(
  roles: readonly Role[],
  from: Pick<ClusterParts, "settings" | "clock" | "closers"> & { readonly givenUp: AbortSignal },
): Promise<ClusterParts> {
  const { settings, clock, closers, givenUp } = from;
  const log = createLogger(settings.log);
  const metrics = createMetrics();
  const addresses = callAddresses({
    externalUrl: settings.externalUrl,
    ingress: settings.ingress && { host: settings.ingress.host, isTls: settings.ingress.tlsSecret !== undefined },
    nearbyUrl: `http://sless-gateway.${settings.pod.namespace}.svc`,
  });
  const openClient: ClusterParts["openClient"] = (name, limit = settings.api) =>
    closers.add(openKubernetesClient({ from: settings.kubeconfig, ...limit, userAgent: `sless/${name}` }));
  const client = openClient(roles.join("+"));
  const stores = clusterStores({ client, log }, { releases: roles.includes("controller") });
  const direct = stores.open(client);
  const kinds = [...new Set(roles.flatMap((role) => FOLLOWED[role]))];
  const servesAlone = roles.every((role) => role === "gateway");
  const informers = createObjectInformers(servesAlone ? endpointObjects(direct) : direct, log, kinds);
  const watching = new AbortController();
  closers.defer(() => watching.abort());
  if (givenUp.aborted) watching.abort(givenUp.reason);
  givenUp.addEventListener("abort", () => watching.abort(givenUp.reason), { once: true });
  const events = createKubernetesEvents({
    client,
    clock,
    log,
    instance: settings.pod.name,
    uidOf: ({ kind, namespace, name }) => uidIn(informers, kind, { namespace, name }),
  });
  closers.defer(() => events.stop());
  const report = (event: ProgressEvent) => {
    metrics.report(event);
    events.report(event);
  };
  const runtimes = await loadRuntimes(join(ROOT, "runtimes"));
  const version = await versionOfSless();
  await informers.start(watching.signal);
  const followed = followedOf(informers, kinds);
  const store = kinds.length === 0 ? openKubernetesStore({ client }) : cachedStore(direct, followed);
  const yieldingStore = cachedStore(stores.open(client.yielding), followed);
  return {
    settings,
    closers,
    log,
    metrics,
    clock,
    client,
    openClient,
    directStore: direct,
    kinds: stores.kinds,
    store,
    yieldingStore,
    informers,
    events,
    report,
    runtimes,
    version,
    addresses,
    watching: watching.signal,
  };
}

function followedOf(informers: ObjectInformers, kinds: readonly Kind[]) {
  const all = byKind(informers);
  return Object.fromEntries(kinds.map((kind) => [kind, all[kind]])) as Partial<typeof all>;
}

/** Events are of other objects too. */
function uidIn(informers: ObjectInformers, kind: string, key: ObjectKey): string | undefined {
  const all: Readonly<Record<string, { get(of: ObjectKey): { metadata: { uid: string } } | undefined }>> =
    byKind(informers);
  return all[kind]?.get(key)?.metadata.uid;
}

function byKind({ functions, services, triggers, jobs, repositories }: ObjectInformers) {
  return {
    Function: functions,
    Service: services,
    Trigger: triggers,
    FunctionJob: jobs,
    Repository: repositories,
  };
}
