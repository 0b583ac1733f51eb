import type { V1ServiceSpec } from "@kubernetes/client-node";
import { deployNamespaceOf, type WorkloadRef } from "../../apis/index.ts";
import { REPLICA_PORT } from "./container-env.ts";
import { type Manifest, sealed } from "./manifest.ts";
import { labelsOf, selectorOf } from "./names.ts";

export interface ServiceManifest extends Manifest {
  spec: V1ServiceSpec;
}

/**
 * The Service of a workload: it makes Kubernetes keep the list of ready replicas that gateways read. Headless, for
 * gateways go to the replicas themselves: a thousand functions take neither addresses nor rules of every node.
 */
export function serviceOf(workload: WorkloadRef): ServiceManifest {
  return sealed({
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: workload.name,
      namespace: deployNamespaceOf(workload.namespace),
      labels: labelsOf(workload),
      annotations: {},
    },
    spec: {
      type: "ClusterIP",
      clusterIP: "None",
      selector: selectorOf(workload),
      ports: [{ name: "http", port: REPLICA_PORT, targetPort: REPLICA_PORT, protocol: "TCP" }],
    },
  });
}
