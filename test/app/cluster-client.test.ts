import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { openClusterClient } from "../../src/app/cluster-client.ts";
import { openKubernetesClient } from "../../src/kubernetes/index.ts";
import { openKubernetesStore } from "../../src/resources/kubernetes/index.ts";
import { describeOnCluster, untilAllowed } from "../support/kubernetes/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const deps = { openCluster: async (access: Parameters<typeof openClusterClient>[0]) => openClusterClient(access) };

describeOnCluster("reading a cluster with a kubeconfig", (cluster) => {
  let namespace = "";
  let readerConfig = "";

  beforeAll(async () => {
    namespace = await cluster().createNamespace("reader");
    const client = openKubernetesClient({ from: { file: cluster().kubeconfig } });
    const store = openKubernetesStore({ client });
    const metadata = { namespace, name: "hello" };
    const hello = await store.create({ kind: "Function", metadata, spec: { runtime: "python3.11" } }, { owner: "api" });
    await store.create({ kind: "Trigger", metadata, spec: { type: "http", functionRef: "hello" } }, { owner: "api" });
    await client.close();

    const user = `reader-${namespace}`;
    const reads = ["functions", "services", "triggers", "functionjobs", "repositories"];
    const rules = [
      { apiGroups: ["sless.kube5s.ru"], resources: reads, verbs: ["get", "list"] },
      { apiGroups: [""], resources: ["events"], verbs: ["list"] },
    ];
    const roles = `${RBAC}/namespaces/${namespace}`;
    await cluster().request("POST", `${roles}/roles`, { body: { metadata: { name: "reader" }, rules } });
    const body = {
      metadata: { name: "reader" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
      subjects: [{ kind: "User", name: user, apiGroup: "rbac.authorization.k8s.io" }],
    };
    await cluster().request("POST", `${roles}/rolebindings`, { body });
    await cluster().request("POST", `/api/v1/namespaces/${namespace}/events`, {
      body: {
        metadata: { name: "hello.1", labels: { "app.kubernetes.io/managed-by": "sless" } },
        involvedObject: { kind: "Function", name: "hello", namespace, uid: hello.metadata.uid },
        type: "Warning",
        reason: "BuildFailed",
        message: "no such package",
        source: { component: "sless" },
        reportingComponent: "sless",
        lastTimestamp: "2026-01-01T00:00:00Z",
      },
    });
    const token = await cluster().tokenFor({ user });
    await untilAllowed(cluster(), token, { verb: "list", resource: "events", namespace });
    readerConfig = await cluster().kubeconfigFor(token);
  });

  const sless = (...line: string[]) =>
    testCli([...line, "-n", namespace, "--kubeconfig", readerConfig], { deps, env: {} });

  it("get, describe and tree show what the API would", async () => {
    expect(await sless("get", "functions")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^hello .*Pending/m),
    });
    expect(await sless("get", "fn", "hello", "-o", "name")).toMatchObject({ code: 0, stdout: "function/hello\n" });
    const whole = await sless("get", "fn", "hello", "-o", "json");
    expect(JSON.parse(whole.stdout)).toMatchObject({ kind: "Function", spec: { runtime: "python3.11" } });
    expect(await sless("describe", "trigger", "hello")).toMatchObject({ stdout: expect.stringContaining("hello") });
    expect((await sless("tree")).stdout).toMatch(/hello/);
  });

  it("events are those of the namespace", async () => {
    const { code, stdout } = await sless("events");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/BuildFailed.*no such package/)]);
  });

  it("a name that is not there is told as it is through the API", async () => {
    const { code, stderr } = await sless("get", "fn", "hallo");
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Function ${namespace}/hallo does not exist`)]);
    expect((await sless("logs", "hallo")).stderr).toContain("did you mean hello?");
  });

  it("what RBAC refuses is refused, with its reason", async () => {
    for (const line of [
      ["get", "functions", "-n", "default"],
      ["logs", "hello", "-n", namespace],
    ]) {
      const { code, stderr } = await testCli([...line, "--kubeconfig", readerConfig], { deps, env: {} });
      expect([code, stderr]).toEqual([2, expect.stringContaining("forbidden")]);
    }
  });

  it("logs of a function that has no pods are empty for whoever may read them", async () => {
    const line = ["logs", "hello", "-n", namespace, "--kubeconfig", cluster().kubeconfig];
    expect(await testCli(line, { deps, env: {} })).toEqual({ code: 0, stdout: "", stderr: "" });
    const build = await testCli([...line, "--build"], { deps, env: {} });
    expect([build.code, build.stderr]).toEqual([2, expect.stringMatching(/--endpoint.*sless logs --help/s)]);
  });

  it("the kubeconfig is that of KUBECONFIG when only a context is named", async () => {
    const contexts = await testCli(["get", "functions", "-n", namespace, "--context", "no-such-context"], {
      deps,
      env: { KUBECONFIG: readerConfig },
    });
    expect([contexts.code, contexts.stderr]).toEqual([2, expect.stringContaining(readerConfig)]);
  });

  it("what is no kubeconfig is told before anything is asked", async () => {
    const file = join(await temporaryFolder(), "config");
    for (const text of [undefined, "kind: Config\n", "{"]) {
      if (text !== undefined) await writeFile(file, text);
      const { code, stderr } = await testCli(["get", "functions", "--kubeconfig", file], { deps, env: {} });
      expect([code, stderr]).toEqual([2, expect.stringContaining("kubeconfig")]);
    }
  });
});
