import { join } from "node:path";
import { accountOf, type RequestAuth } from "../../auth/index.ts";
import type { Builder } from "../../build/index.ts";
import type { Gateway } from "../../gateway/index.ts";
import type { Hooks } from "../../hooks/index.ts";
import { kubernetesSecrets } from "../../kubernetes-secrets/index.ts";
import { kubernetesLogs } from "../../platform/kubernetes/index.ts";
import { openKubernetesStore } from "../../resources/kubernetes/index.ts";
import {
  createServer,
  type Namespaces,
  openGuard,
  openUploadFolder,
  type ServerDeps,
  type SlessServer,
} from "../../server/index.ts";
import { createTenancy } from "../../tenancy/index.ts";
import { openHooks } from "../open-hooks.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { tenancySettings } from "./tenancy-settings.ts";

export interface ApiDeps extends Pick<ServerDeps, "placeOf" | "repositoryUrlFault" | "readiness" | "collectGarbage"> {
  readonly auth: RequestAuth;
  readonly gateway: Gateway;
  readonly objects: ClusterObjects;
  readonly builder: Pick<Builder, "logs" | "has">;
}

const CALLS_STOP_MS = 10_000;
/** However many follow logs: nothing but logs waits for it. */
const LOGS_LIMIT = { perSecond: 50, burst: 200, connections: 512 };

/** Anybody can send deliveries, however many: what they make sless ask for uses up nobody else's share. */
const HOOKS_LIMIT = { perSecond: 50, burst: 100 };

/** The REST API: RBAC decides on every route of it, with the caller's own rights. */
export async function openApiServer(parts: ClusterParts, deps: ApiDeps): Promise<SlessServer> {
  const { settings, client, clock, log, store, events, report, metrics, runtimes } = parts;
  return createServer({
    ...deps,
    ...deps.objects,
    store,
    runtimes,
    events,
    report,
    metrics,
    log,
    hooks: openClusterHooks(parts),
    trustForwarded: settings.gateway.trustForwarded,
    uploads: await openUploadFolder(join(settings.data, "uploads")),
    namespaces: namespacesOf(parts),
    secrets: kubernetesSecrets({ client }),
    platform: kubernetesLogs({ client: parts.openClient("logs", LOGS_LIMIT), clock, log }),
    whoami: deps.auth.whoami,
    authorize: deps.auth.authorize,
    guard: openGuard,
    clock,
    closeTimeoutMs: CALLS_STOP_MS,
  });
}

function openClusterHooks({ openClient, clock, log, metrics, closers }: ClusterParts): Hooks {
  const client = openClient("hooks", HOOKS_LIMIT);
  const store = openKubernetesStore({ client });
  return openHooks({ store, readSecret: kubernetesSecrets({ client }).read, clock, log, metrics }, closers);
}

function namespacesOf({ client, settings }: ClusterParts): Namespaces {
  const tenancy = createTenancy({ client, settings: tenancySettings(settings) });
  return {
    has: tenancy.has,
    ensure: (namespace, by) => tenancy.ensure(namespace, by && accountOf(by.subject)),
  };
}
