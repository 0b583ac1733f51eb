import { requestAuth } from "../../auth/index.ts";
import { kubernetesAuthority } from "../../auth/kubernetes/index.ts";
import type { Builder } from "../../build/index.ts";
import type { ClusterApp, ClusterOptions, Role } from "../../cli/index.ts";
import { type LeaseTimes, systemClock, type TimerClock } from "../../controller/index.ts";
import { SlessError } from "../../errors/index.ts";
import { type Gateway, gatewayClient } from "../../gateway/index.ts";
import { createHealthServer, openGuard, type ReadinessCheck, type SlessServer } from "../../server/index.ts";
import { type Closers, createClosers } from "../closers.ts";
import { repositoryUrlFault } from "../remotes.ts";
import { openApiServer } from "./api-role.ts";
import { builtElsewhere, openClusterBuilder } from "./cluster-builder.ts";
import { type ClusterObjects, openClusterObjects } from "./cluster-objects.ts";
import { type ClusterParts, openClusterParts } from "./cluster-parts.ts";
import { type ControllerRole, startControllerRole } from "./controller-role.ts";
import { startGatewayRole } from "./gateway-role.ts";
import { openLeaderLink } from "./leader-link.ts";
import { openWaitingServer } from "./waiting-server.ts";

export interface ClusterComposition extends ClusterOptions {
  /** Makes images; default: by the settings. */
  readonly openBuilder?: (parts: ClusterParts, objects: ClusterObjects) => Promise<Builder> | Builder;
  /** Default: the system's. */
  readonly clock?: TimerClock;
  /** How long a lead that is not renewed lasts; the same for all replicas. Default as of `LeaseTimes`. */
  readonly leaseTimes?: LeaseTimes;
}

/** Composition root of sless on a cluster: the roles of this process, over the Kubernetes adapters. */
export async function startCluster(options: ClusterComposition): Promise<ClusterApp> {
  const closers = createClosers();
  const giveUp = new AbortController();
  const onAbort = () => giveUp.abort(options.signal?.reason);
  if (options.signal?.aborted) onAbort();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await start(options, closers, giveUp.signal);
  } catch (error) {
    await closers.close().catch(() => {});
    throw error;
  } finally {
    options.signal?.removeEventListener("abort", onAbort);
  }
}

/** @param givenUp aborts when nobody wants the process any more, though it has not started yet */
async function start(options: ClusterComposition, closers: Closers, givenUp: AbortSignal): Promise<ClusterApp> {
  const { roles, settings, openBuilder = openClusterBuilder, clock = systemClock, leaseTimes } = options;
  const at = { host: settings.listenAddress, port: settings.port };
  const waiting = closers.add(await openWaitingServer(at));
  const parts = await openClusterParts(roles, { settings, clock, closers, givenUp });
  const has = (role: Role) => roles.includes(role);
  const objects = has("controller") || has("api") ? await openClusterObjects(settings, clock, closers) : undefined;
  const builder = has("controller") ? await openBuilder(parts, objects!) : undefined;
  const remote = has("gateway") ? undefined : closers.add(gatewayElsewhere(parts));
  const own = has("gateway") ? await startGatewayRole(parts) : undefined;
  const gateway = (own?.gateway ?? remote)!;
  let controller: ControllerRole | undefined;
  const server = await openServer({ parts, roles, gateway, objects, builder, controller: () => controller });
  closers.defer(() => server.close());
  await waiting.close();
  const { url } = await server.listen(at);
  if (has("controller"))
    controller = await startControllerRole(parts, { gateway, objects: objects!, builder: builder!, leaseTimes });
  parts.log.info({ roles: roles.join(","), url, internalUrl: own?.internalUrl }, "started");
  return { url, internalUrl: own?.internalUrl, close: () => closers.close() };
}

/** A flood of tokens shall not use up what everything else needs of the API server. */
const AUTH_LIMIT = { perSecond: 50, burst: 200 };

interface ServerParts {
  readonly parts: ClusterParts;
  readonly roles: readonly Role[];
  readonly gateway: Gateway;
  readonly objects: ClusterObjects | undefined;
  readonly builder: Builder | undefined;
  readonly controller: () => ControllerRole | undefined;
}

/** A role that follows the API server goes on without it: that it is away makes none of them unready. */
function openServer({
  parts,
  roles,
  gateway,
  objects,
  builder,
  controller,
}: ServerParts): Promise<SlessServer> | SlessServer {
  const { metrics, clock, log, settings } = parts;
  const readiness: Record<string, ReadinessCheck> = roles.includes("controller")
    ? { controllers: () => (controller() ? undefined : "the controllers have not started yet") }
    : {};
  const client = parts.openClient("auth", AUTH_LIMIT);
  const auth = requestAuth(kubernetesAuthority({ client, clock, log }));
  const { authorize } = auth;
  if (!roles.includes("api"))
    return createHealthServer({ gateway, guard: openGuard, authorize, metrics, readiness, log });
  const leader = openLeaderLink(parts, objects!, () => controller()?.leader());
  return openApiServer(parts, {
    auth,
    gateway,
    objects: objects!,
    builder: { has: (builder ?? builtElsewhere(parts)).has, logs: leader.buildLogs },
    collectGarbage: leader.collectGarbage,
    placeOf: leader.placeOf,
    readiness,
    repositoryUrlFault: repositoryUrlFault(settings.gitNetworks),
  });
}

/** @throws SlessError `settings_invalid` without an address */
function gatewayElsewhere({ settings, clock }: ClusterParts): Gateway {
  const { url, tokenFile } = settings.gateway;
  if (url !== undefined) return gatewayClient({ url, tokenFile, clock });
  const cause = "GATEWAY_URL is not set and this process is no gateway: name the gateway's internal port";
  throw new SlessError("settings_invalid", { cause });
}
