import { isDeepStrictEqual } from "node:util";
import { TENANT_LABEL } from "../apis/index.ts";
import { type ControllerLog, type Next, startController, type TimerClock } from "../controller/index.ts";
import { messageOf } from "../errors/index.ts";
import { API_RESOURCES, type ApiObject, type KubernetesClient, watchResource } from "../kubernetes/index.ts";
import {
  API_SERVER_SLICES,
  type ApiServerAddress,
  type EndpointSlice,
  readApiServerAddresses,
} from "./api-server-addresses.ts";
import { createTenancy, type Tenancy } from "./create-tenancy.ts";
import { isAsWanted } from "./is-as-wanted.ts";
import type { TenancySettings } from "./tenancy-settings.ts";
import { type TenantWatches, watchTenants } from "./tenant-watches.ts";
import { applyObject, removeObject } from "./tenant-writes.ts";
import { deployNamespace, objectsQuota, policiesOf, userNamespace } from "./wanted-objects.ts";

export interface FollowTenantsOptions {
  readonly client: KubernetesClient;
  readonly settings: TenancySettings;
  readonly clock: TimerClock;
  readonly log: ControllerLog;
}

/** Tenancy of the controller: it knows from watches what is as it should be. */
export interface FollowedTenants {
  /** As of `Tenancy`; costs next to nothing where all is as wanted. */
  ensureDeployNamespace(namespace: string): Promise<void>;
  /**
   * Puts right what is not as wanted, now and whenever it changes. Of several processes one at a time shall: while a new
   * version is rolled out their settings differ, and they would undo one another's work without end.
   */
  startCorrecting(): TenantCorrections;
  stop(): void;
}

export interface TenantCorrections {
  /** Resolves when nothing is to be corrected. */
  idle(): Promise<void>;
  stop(timeoutMs?: number): Promise<void>;
}

const CONCURRENCY = 4;

interface State {
  readonly client: KubernetesClient;
  readonly settings: TenancySettings;
  readonly watches: TenantWatches;
  readonly tenancy: Tenancy;
  readonly apiServer: () => readonly ApiServerAddress[];
  /** What was last found to be as wanted, by tenant. */
  readonly settled: Map<string, Settled>;
}

interface Settled {
  readonly lives: readonly (ApiObject | undefined)[];
  readonly apiServer: readonly ApiServerAddress[];
}

/**
 * Follows what sless made for tenants: policies that are edited or deleted behind its back are put back, changed
 * settings and addresses of the API server reach every tenant. Rights of users are not its business: what an operator
 * takes from them stays taken until the user's namespace is ensured again.
 *
 * @throws SlessError, ApiError when the first look fails
 */
export async function followTenants(options: FollowTenantsOptions): Promise<FollowedTenants> {
  const { client, settings, clock, log } = options;
  const watching = new AbortController();
  const watches = watchTenants(client, options);
  const apiServer = await followApiServer(options, watching.signal);
  await watches.start(watching.signal);
  const tenancy = createTenancy({ client, settings, apiServer: apiServer.addresses });
  const state: State = {
    client,
    settings,
    watches,
    tenancy,
    apiServer: apiServer.addresses,
    settled: new Map(),
  };
  return {
    ensureDeployNamespace: (namespace) => ensure(namespace, state),
    startCorrecting: () => startCorrecting(state, apiServer, { clock, log }),
    stop: () => watching.abort(),
  };
}

function startCorrecting(
  state: State,
  apiServer: ApiServerAddresses,
  options: Pick<FollowTenantsOptions, "clock" | "log">,
): TenantCorrections {
  const { watches } = state;
  const reconcile = (tenant: string) => correct(tenant, state);
  const controller = startController({ name: "tenant", concurrency: CONCURRENCY, ...options, reconcile });
  const look = ({ metadata }: ApiObject) => {
    const tenant = metadata.labels?.[TENANT_LABEL];
    if (tenant !== undefined) controller.enqueue(tenant);
  };
  const lookAtAll = () => {
    for (const namespace of watches.namespaces()) look(namespace);
  };
  const stopListening = [watches.onChange(look), apiServer.onChange(lookAtAll)];
  lookAtAll();
  return {
    idle: () => controller.idle(),
    async stop(timeoutMs) {
      for (const stop of stopListening) stop();
      await controller.stop(timeoutMs);
    },
  };
}

function wantedOf(tenant: string, { settings, apiServer }: State) {
  return [deployNamespace(tenant), ...policiesOf(tenant, settings, apiServer())];
}

async function ensure(tenant: string, state: State): Promise<void> {
  const { watches, tenancy, settled } = state;
  const now: Settled = { lives: watches.livesOf(tenant), apiServer: state.apiServer() };
  // It is asked before every write of every workload.
  if (isSame(now, settled.get(tenant))) return;
  if (wantedOf(tenant, state).every((wanted) => isAsWanted(wanted, watches.liveOf(wanted))))
    return void settled.set(tenant, now);
  settled.delete(tenant);
  for (const object of await tenancy.ensureDeployNamespace(tenant)) watches.observe(object);
}

function isSame({ lives, apiServer }: Settled, before: Settled | undefined): boolean {
  return before?.apiServer === apiServer && lives.every((live, index) => live === before.lives[index]);
}

async function correct(tenant: string, state: State): Promise<Next> {
  const { client, watches } = state;
  await correctObjectsQuota(tenant, state);
  const namespace = watches.liveOf(deployNamespace(tenant));
  // One that is gone is made anew when something is to run there.
  if (!namespace || namespace.metadata.deletionTimestamp) return { kind: "done" };
  await ensure(tenant, state);
  for (const { resource, live } of watches.unwantedOf(tenant, wantedOf(tenant, state)))
    await removeObject(client, { resource }, live);
  return { kind: "done" };
}

/** In namespaces that sless made; what others bound in theirs is not its business. */
async function correctObjectsQuota(tenant: string, { client, settings, watches }: State): Promise<void> {
  const namespace = watches.liveOf(userNamespace(tenant, undefined));
  if (!namespace || namespace.metadata.deletionTimestamp) return;
  const live = watches.objectsQuotaOf(tenant);
  const wanted = objectsQuota(tenant, settings);
  if (wanted && !isAsWanted(wanted, live)) watches.observe(await applyObject(client, wanted));
  else if (!wanted && live?.metadata.labels?.[TENANT_LABEL] === tenant)
    await removeObject(client, { resource: API_RESOURCES.ResourceQuota }, live);
}

interface ApiServerAddresses {
  /** As they are known last. */
  addresses(): readonly ApiServerAddress[];
  /** Hears that they are others. Returns the way to unlisten. */
  onChange(listener: () => void): () => void;
}

async function followApiServer(
  { client, clock, log }: FollowTenantsOptions,
  signal: AbortSignal,
): Promise<ApiServerAddresses> {
  const slices = watchResource<EndpointSlice>(client, API_RESOURCES.EndpointSlice, {
    ...API_SERVER_SLICES,
    clock,
    log,
  });
  await slices.start(signal);
  let known = await readApiServerAddresses(client);
  const listeners = new Set<() => void>();
  const readAgain = async () => {
    const addresses = await readApiServerAddresses(client);
    if (isDeepStrictEqual(addresses, known)) return;
    known = addresses;
    for (const changed of listeners) changed();
  };
  slices.onChange(() => {
    readAgain().catch((error: unknown) =>
      log.warn({ err: messageOf(error) }, "addresses of the API server are not known"),
    );
  });
  return {
    addresses: () => known,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
