import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import type { WorkloadRef } from "../../apis/index.ts";
import type { Builder } from "../../build/index.ts";
import {
  type LeaderElection,
  type LeaseTimes,
  type ReconcileRun,
  startLeaderElection,
} from "../../controller/index.ts";
import { messageOf } from "../../errors/index.ts";
import { callHost, type Gateway } from "../../gateway/index.ts";
import { kubernetesLease } from "../../kubernetes/index.ts";
import { kubernetesSecrets, watchSecrets } from "../../kubernetes-secrets/index.ts";
import type { Leader } from "../../leader/index.ts";
import { leaseIdentity } from "../../leader/kubernetes/index.ts";
import { type KubernetesPlatform, openKubernetesPlatform } from "../../platform/kubernetes/index.ts";
import { startReconcilers } from "../../reconcilers/index.ts";
import type { Routes } from "../../routes/index.ts";
import { ingressRoutes, removeIngressRoutes } from "../../routes/kubernetes/index.ts";
import { startScheduler } from "../../schedule/index.ts";
import { createSyncController } from "../../sync/index.ts";
import { type FollowedTenants, followTenants } from "../../tenancy/index.ts";
import { openRemotes, type Remotes } from "../remotes.ts";
import { startClusterGarbage } from "./cluster-garbage.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { CONTROLLER_LEASE, openLeaderPort, ownLeader } from "./leader-link.ts";
import { tenancySettings } from "./tenancy-settings.ts";

export interface ControllerDeps {
  readonly gateway: Gateway;
  readonly objects: ClusterObjects;
  readonly builder: Builder;
  /** Of the election; default as of `LeaseTimes`. */
  readonly leaseTimes?: LeaseTimes | undefined;
}

export interface ControllerRole {
  readonly election: LeaderElection;
  readonly platform: KubernetesPlatform;
  readonly remotes: Remotes;
  /** This process, while it leads. */
  readonly leader: () => Leader | undefined;
}

/** As the chart names it. */
const GATEWAY_SERVICE = { name: "sless-gateway", port: "http" };
/** A leader that lost its lease has so long before another may lead. */
const STOP_MS = 4_000;

/** What is made ready before this process leads, so that it can go on at once where another ended. */
interface Standby extends ControllerDeps {
  readonly parts: ClusterParts;
  readonly platform: KubernetesPlatform;
  readonly remotes: Remotes;
  readonly routes: Routes | undefined;
  readonly tenants: FollowedTenants;
}

/** Controllers, of which one process at a time runs those that must be single. Resolves once this one is a candidate. */
export async function startControllerRole(parts: ClusterParts, deps: ControllerDeps): Promise<ControllerRole> {
  const { client, clock, closers, log, watching, settings } = parts;
  const watch = watchSecrets(client, { clock, log });
  await watch.start(watching);
  const remotes = await openRemotes({
    folder: join(settings.data, "mirrors"),
    settings,
    secrets: kubernetesSecrets({ client, watch }),
  });
  const tenants = await followTenants({ client, settings: tenancySettings(settings), clock, log });
  closers.defer(() => tenants.stop());
  const platform = openKubernetesPlatform({
    client: client.yielding,
    clock,
    log,
    settings: platformSettings(parts),
    ensureNamespace: tenants.ensureDeployNamespace,
  });
  await platform.start(watching);
  const routes = await openRoutes(parts);
  const standby: Standby = { ...deps, parts, platform, remotes, routes, tenants };
  let led: Leader | undefined;
  const leader = () => led;
  await openLeaderPort(parts, leader);
  const election = startLeaderElection({
    store: kubernetesLease(parts.openClient("lease"), { namespace: settings.pod.namespace, name: CONTROLLER_LEASE }),
    identity: leaseIdentity(settings.pod.name, randomUUID()),
    clock,
    log,
    ...(deps.leaseTimes ? { times: deps.leaseTimes } : {}),
    onStartedLeading: (signal) =>
      lead(standby, signal, (started) => {
        led = started;
        signal.addEventListener("abort", () => {
          led = undefined;
        });
      }),
    onStoppedLeading: (why) => {
      led = undefined;
      log.info({ why }, "does not lead any more");
    },
    onNewLeader: (identity) => log.info({ leader: identity }, "leads"),
  });
  closers.defer(() => election.stop());
  return { election, platform, remotes, leader };
}

function platformSettings({ settings }: ClusterParts) {
  const { registry, tenant, pod } = settings;
  const { runtimeClassName } = tenant;
  return {
    ...(registry?.secret === undefined
      ? {}
      : { registry: { host: registry.host, secret: { namespace: pod.namespace, name: registry.secret } } }),
    ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
  };
}

async function openRoutes({ client, clock, settings, log, watching }: ClusterParts): Promise<Routes | undefined> {
  const { namespace } = settings.pod;
  if (settings.externalUrl !== undefined || !settings.ingress) {
    await removeIngressRoutes(client, namespace);
    return undefined;
  }
  const { host, className, tlsSecret } = settings.ingress;
  const routes = ingressRoutes({
    client,
    clock,
    log,
    namespace,
    className,
    tlsSecret,
    hostOf: (target) => callHost(target, host),
    service: GATEWAY_SERVICE,
  });
  await routes.start(watching);
  return routes;
}

/** Everything that one process alone may do, until the signal aborts. */
async function lead(standby: Standby, signal: AbortSignal, onStarted: (led: Leader) => void): Promise<void> {
  const { parts, gateway, objects, builder, platform, remotes, routes, tenants } = standby;
  const { informers, store, directStore, yieldingStore, report, clock, log, runtimes, metrics, addresses } = parts;
  const onRun = (run: ReconcileRun) => log.debug(run, "reconciled");
  const shared = { informers, store, report, log, runtimes, clock, onRun };
  const reconcilers = await startReconcilers({
    ...shared,
    store: yieldingStore,
    builder,
    platform,
    urlOf: addresses.urlOf,
    prepareStopped: true,
    isGone: async (ref) => !outlivedKind(ref, standby) && (await directStore.get(ref.kind, ref)) === undefined,
    ...(routes ? { routes } : {}),
  });
  const sync = createSyncController({
    ...shared,
    ...objects,
    openGit: remotes.open,
    webhookFault: remotes.webhookFault,
  });
  const scheduler = startScheduler({ ...shared, ...informers, invoke: gateway.invoke });
  for (const { name, sizes } of [...reconcilers.controllers, scheduler.controller])
    metrics.watchQueue(name, () => sizes().ready);
  const onError = (error: unknown) => log.warn({ err: messageOf(error) }, "mirrors not removed");
  const corrections = tenants.startCorrecting();
  const stopRemotes = remotes.watch({ repositories: informers.repositories, onHint: sync.hint, onError });
  const garbage = await startClusterGarbage(parts, objects, builder);
  onStarted(ownLeader({ sync, garbage, signal }, builder));
  if (!signal.aborted) await once(signal, "abort");
  stopRemotes();
  await Promise.all([
    sync.stop(STOP_MS),
    reconcilers.stop(STOP_MS),
    scheduler.stop(STOP_MS),
    corrections.stop(STOP_MS),
    garbage.stop(),
  ]);
}

/**
 * It was made before its kind was installed: its object went with an earlier installation, and nobody deleted it. It
 * belongs to the object of its name that comes back.
 */
function outlivedKind(ref: WorkloadRef, { parts, platform }: Standby): boolean {
  const madeAt = platform.madeAt(ref);
  const installedAt = parts.kinds.installedAt(ref.kind);
  return madeAt !== undefined && installedAt !== undefined && madeAt <= installedAt;
}
