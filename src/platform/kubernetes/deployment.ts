import type { V1Container, V1DeploymentSpec, V1Probe, V1TopologySpreadConstraint } from "@kubernetes/client-node";
import { deployNamespaceOf, type WorkloadRef } from "../../apis/index.ts";
import type { WorkloadSpec } from "../platform.ts";
import { containerEnv, REPLICA_PORT } from "./container-env.ts";
import { type Manifest, sealed } from "./manifest.ts";
import { CHILD_ANNOTATIONS, labelsOf, selectorOf } from "./names.ts";
import { type BuildContext, podSpec } from "./pod-spec.ts";
import type { PlatformSettings } from "./settings.ts";

export interface DeploymentManifest extends Manifest {
  spec: V1DeploymentSpec;
}

const HEALTH_PERIOD_SEC = 5;
const LIVENESS_PERIOD_SEC = 10;
/** How long a workload without time limit may be too busy to answer its probe. */
const UNLIMITED_BUSY_SEC = 600;
/** For the answer of the last call to get through, and for the process to end. */
const MARGIN_SEC = 5;

/**
 * The Deployment of a Function or Service. Pure: equal inputs give equal manifests. `sourceDigest` stands beside the
 * pod template, not in it: another source with an equal image moves no pod.
 */
export function deploymentOf(spec: WorkloadSpec, replicas: number, context: BuildContext): DeploymentManifest {
  const { workload } = spec;
  return sealed({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: workload.name,
      namespace: deployNamespaceOf(workload.namespace),
      labels: labelsOf(workload),
      annotations: { [CHILD_ANNOTATIONS.sourceDigest]: spec.sourceDigest },
    },
    spec: {
      replicas,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 600,
      selector: { matchLabels: selectorOf(workload) },
      // No replica goes before its successor serves.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "25%" } },
      template: {
        metadata: { labels: labelsOf(workload) },
        spec: templateOf(spec, context),
      },
    },
  });
}

function templateOf(spec: WorkloadSpec, context: BuildContext) {
  const { settings, envSecret } = context;
  const drainSec = drainSecOf(spec, settings);
  const env = containerEnv(spec, envSecret, { PORT: String(REPLICA_PORT), SLESS_DRAIN_SEC: String(drainSec) });
  return podSpec(spec, context, {
    env,
    container: {
      ports: [{ name: "http", containerPort: REPLICA_PORT, protocol: "TCP" }],
      ...probesOf(spec, settings),
      lifecycle: { preStop: { sleep: { seconds: settings.preStopSec } } },
    },
    pod: {
      terminationGracePeriodSeconds: settings.preStopSec + drainSec + MARGIN_SEC,
      topologySpreadConstraints: spreadOf(spec.workload),
    },
  });
}

function drainSecOf({ timeoutSec }: WorkloadSpec, { unlimitedDrainSec }: PlatformSettings): number {
  return timeoutSec === 0 ? unlimitedDrainSec : timeoutSec + MARGIN_SEC;
}

/** A handler that computes keeps some runtimes from answering: a replica counts as dead only after its longest call. */
function probesOf(
  { timeoutSec }: WorkloadSpec,
  { startDeadlineSec }: PlatformSettings,
): Pick<V1Container, "startupProbe" | "readinessProbe" | "livenessProbe"> {
  const busySec = timeoutSec === 0 ? UNLIMITED_BUSY_SEC : timeoutSec;
  return {
    startupProbe: probe(1, startDeadlineSec),
    readinessProbe: probe(HEALTH_PERIOD_SEC, 3),
    livenessProbe: probe(LIVENESS_PERIOD_SEC, 3 + Math.ceil(busySec / LIVENESS_PERIOD_SEC)),
  };
}

function probe(periodSeconds: number, failureThreshold: number): V1Probe {
  return { httpGet: { path: "/health", port: REPLICA_PORT }, periodSeconds, timeoutSeconds: 5, failureThreshold };
}

/** Wished for, not demanded: a cluster of one node serves as well. */
function spreadOf(workload: WorkloadRef): V1TopologySpreadConstraint[] {
  return ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: selectorOf(workload) },
    matchLabelKeys: ["pod-template-hash"],
  }));
}
