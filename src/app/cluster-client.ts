import type { ClusterAccess } from "../cli/index.ts";
import { systemClock } from "../controller/index.ts";
import { openKubernetesClient } from "../kubernetes/index.ts";
import { createKubernetesEvents } from "../kubernetes-events/index.ts";
import { kubernetesLogs } from "../platform/kubernetes/index.ts";
import { openKubernetesStore } from "../resources/kubernetes/index.ts";
import type { SlessClient } from "../server/client.ts";
import { directClient } from "../server/direct-client.ts";

const SILENT = { warn: () => undefined };

/**
 * Reads a cluster with the rights of a kubeconfig: RBAC decides. Nothing is sent before the first read.
 *
 * @throws SlessError `settings_invalid` when the kubeconfig cannot be used
 */
export function openClusterClient({ kubeconfig, context }: ClusterAccess): SlessClient {
  const client = openKubernetesClient({
    from: { file: kubeconfig, ...(context === undefined ? {} : { context }) },
    userAgent: "sless-cli",
  });
  const { list } = createKubernetesEvents({
    client,
    clock: systemClock,
    log: SILENT,
    instance: "cli",
    uidOf: () => undefined,
  });
  return directClient({
    store: openKubernetesStore({ client }),
    platform: kubernetesLogs({ client, clock: systemClock, log: SILENT }),
    events: list,
    close: () => client.close(),
  });
}
