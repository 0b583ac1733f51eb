import { join } from "node:path";
import { type Kind, type ObjectOf, refOf } from "../../apis/index.ts";
import { requestAuth } from "../../auth/index.ts";
import { kubernetesAuthority } from "../../auth/kubernetes/index.ts";
import type { Builder } from "../../build/index.ts";
import { systemClock } from "../../controller/index.ts";
import type { Gateway } from "../../gateway/index.ts";
import { kubernetesSecrets } from "../../kubernetes-secrets/index.ts";
import { kubernetesLogs } from "../../platform/kubernetes/index.ts";
import {
  createServer,
  type Namespaces,
  openGuard,
  openUploadFolder,
  type ServerDeps,
  type SlessServer,
} from "../../server/index.ts";
import { approveDeletions } from "../../sync/index.ts";
import { createTenancy, type TenantSubject } from "../../tenancy/index.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { tenancySettings } from "./tenancy-settings.ts";

export interface ApiDeps extends Pick<ServerDeps, "placeOf" | "repositoryUrlFault" | "readiness"> {
  readonly gateway: Gateway;
  readonly objects: ClusterObjects;
  readonly builder: Pick<Builder, "logs">;
}

const CALLS_STOP_MS = 10_000;

/** The REST API: RBAC decides on every route of it, with the caller's own rights. */
export async function openApiServer(parts: ClusterParts, deps: ApiDeps): Promise<SlessServer> {
  const { settings, client, openClient, log, store, events, report, metrics, runtimes } = parts;
  const auth = requestAuth(kubernetesAuthority({ client: openClient("api-auth"), clock: systemClock, log }));
  return createServer({
    ...deps,
    ...deps.objects,
    store,
    runtimes,
    events,
    report,
    metrics,
    log,
    uploads: await openUploadFolder(join(settings.data, "uploads")),
    namespaces: namespacesOf(parts),
    secrets: kubernetesSecrets({ client }),
    platform: kubernetesLogs({ client, clock: systemClock, log }),
    whoami: auth.whoami,
    authorize: auth.authorize,
    approveDeletions: (repository, deletions) =>
      approveDeletions(store, refOf(repository), deletions.map(toHeld(repository))),
    guard: openGuard,
    clock: systemClock,
    closeTimeoutMs: CALLS_STOP_MS,
  });
}

function namespacesOf({ client, settings }: ClusterParts): Namespaces {
  const tenancy = createTenancy({ client, settings: tenancySettings(settings) });
  return {
    has: tenancy.has,
    ensure: (namespace, by) => tenancy.ensure(namespace, by && subjectOf(by.subject)),
  };
}

/** As RoleBindings name whom a token speaks for. */
export function subjectOf(username: string): TenantSubject {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  if (namespace !== undefined && name !== undefined) return { kind: "ServiceAccount", namespace, name };
  return { kind: "User", name: username };
}

function toHeld({ metadata: { namespace } }: ObjectOf<"Repository">) {
  return ({ kind, name, uid }: { kind: Kind; name: string; uid: string }) => ({ ref: { kind, namespace, name }, uid });
}
