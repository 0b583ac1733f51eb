import { expect, it } from "vitest";
import { clusterStore } from "../support/cluster-store.ts";
import { functionIntent } from "../support/function-intent.ts";
import { kstatus } from "../support/kstatus.ts";
import { kubectl } from "../support/kubectl.ts";
import { describeOnCluster } from "../support/kubernetes/index.ts";

describeOnCluster("whoever waits for an object", (cluster) => {
  const ready = (generation: number, status: "True" | "False") => ({
    observedGeneration: generation,
    phase: status === "True" ? ("Ready" as const) : ("Failed" as const),
    conditions: [
      {
        type: "Ready",
        status,
        reason: "Tested",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
        observedGeneration: generation,
      },
    ],
  });

  it("does not take one for current that sless has not looked at yet", async () => {
    const { store } = clusterStore(cluster());
    const namespace = await cluster().createNamespace();
    const made = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    expect(made.status).toBeUndefined();
    const path = `/apis/sless.kube5s.ru/v1alpha1/namespaces/${namespace}/functions/hello`;
    const raw = async () => (await cluster().request("GET", path)).body;
    expect(kstatus(await raw(), { isOld: true })).toBe("InProgress");
    await store.updateStatus(made, ready(1, "True"));
    expect(kstatus(await raw())).toBe("Current");
  });

  it("`kubectl wait --for=condition=Ready` waits for this generation", async () => {
    const { store } = clusterStore(cluster());
    const namespace = await cluster().createNamespace();
    const wait = (seconds: number) =>
      kubectl(cluster().kubeconfig, [
        "wait",
        "--for=condition=Ready",
        "function/hello",
        "-n",
        namespace,
        `--timeout=${seconds}s`,
      ]);
    const made = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const waiting = wait(120);
    await store.updateStatus(made, ready(1, "True"));
    expect(await waiting).toContain("hello condition met");
    const changed = await store.patch("Function", made.metadata, { spec: { memoryMB: 256 } }, { owner: "api" });
    await expect(wait(1)).rejects.toThrow(/timed out/);
    await store.updateStatus(changed, ready(2, "True"));
    expect(await wait(120)).toContain("condition met");
  });
});
