import { describe } from "vitest";
import { WORKLOAD_KINDS } from "../../src/apis/index.ts";
import { driftContract } from "../contract/drift.ts";
import { cleanUpAtOnce } from "../support/clean-up-at-once.ts";
import { clusterStore } from "../support/cluster-store.ts";
import { describeOnCluster } from "../support/kubernetes/index.ts";
import { memoryStore } from "../support/memory-store.ts";

describe("drift in the embedded store", () => {
  driftContract(async () => ({ store: cleanUpAtOnce(await memoryStore(), WORKLOAD_KINDS), namespace: "demo" }));
});

describeOnCluster("drift on a real API server", (cluster) => {
  driftContract(async () => {
    const { store } = clusterStore(cluster());
    return { store: cleanUpAtOnce(store, WORKLOAD_KINDS), namespace: await cluster().createNamespace() };
  });
});
