// Renders with "helm", applies with "kubectl".
import { afterAll, beforeAll, expect, it } from "vitest";
import { SHARED_CLAIM } from "../../deploy/value-sets.ts";
import { github } from "../../hooks/sign.ts";
import { startClusterApp, type TestClusterApp } from "../../support/cluster-app.ts";
import { eventually } from "../../support/eventually.ts";
import { gitHttpServer } from "../../support/git-http-server.ts";
import { type GitRepository, gitRepository } from "../../support/git-repository.ts";
import { renderChart } from "../../support/helm.ts";
import { asList, kubectl } from "../../support/kubectl.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";

const API_VERSION = "sless.kube5s.ru/v1alpha1";
const RIGHTS = /^(ServiceAccount|(Cluster)?Role(Binding)?|ValidatingAdmissionPolicy(Binding)?)$/;
const ACCOUNT = { serviceAccount: "sless-api", namespace: "sless" };
const PUSH = { ref: "refs/heads/main" };
const FUNCTION = (memoryMB: number) => ({
  "f/function.yaml": JSON.stringify({
    apiVersion: API_VERSION,
    kind: "Function",
    metadata: { name: "f" },
    spec: { runtime: "python3.11", replicas: 0, memoryMB },
  }),
  "f/handler.py": "def handle(event, context):\n    return 1\n",
});

describeOnOwnControlPlane("webhooks on a cluster", { audit: true }, (cluster) => {
  let controller: TestClusterApp;
  let api: TestClusterApp;
  beforeAll(async () => {
    await kubectl(cluster().kubeconfig, ["create", "namespace", "sless"]);
    const objects = await renderChart({ mode: "roles", ...SHARED_CLAIM }, "sless");
    const rights = objects.filter(({ kind }) => RIGHTS.test(kind!));
    await kubectl(cluster().kubeconfig, ["apply", "--server-side", "-f", "-"], asList(rights));
    controller = await startClusterApp(cluster(), { roles: ["controller", "gateway"] });
    const kubeconfig = await cluster().kubeconfigFor(await cluster().tokenFor(ACCOUNT));
    const env = { KUBECONFIG: kubeconfig, POD_NAMESPACE: "sless", GATEWAY_URL: controller.app.internalUrl! };
    api = await startClusterApp(cluster(), { roles: ["api"], env });
  });
  afterAll(async () => {
    await api?.close();
    await controller?.close();
  });

  const writeSecret = async (namespace: string, data: Record<string, string>, type = "Opaque") => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "hook", namespace }, type, stringData: data };
    await kubectl(cluster().kubeconfig, ["apply", "--server-side", "-f", "-"], JSON.stringify(secret));
  };
  const repositoryPath = (namespace: string) => `/apis/${API_VERSION}/namespaces/${namespace}/repositories/code`;
  const live = async (namespace: string) => (await cluster().request("GET", repositoryPath(namespace))).body;
  const applied = (namespace: string, commit: string) =>
    eventually(
      `${commit} is applied`,
      () => live(namespace),
      ({ status }) => status?.lastAppliedRevision === `main@sha1:${commit}`,
    );
  async function follow(spec: object = { webhookSecretRef: { name: "hook" } }) {
    const namespace = await cluster().createNamespace("team");
    const repository: GitRepository = await gitRepository(FUNCTION(64), { bare: true });
    const { url } = await gitHttpServer(repository.dir);
    const body = {
      apiVersion: API_VERSION,
      kind: "Repository",
      metadata: { name: "code", namespace },
      spec: { url, ref: { branch: "main" }, interval: "24h", ...spec },
    };
    await kubectl(cluster().kubeconfig, ["apply", "--server-side", "-f", "-"], JSON.stringify(body));
    await applied(namespace, repository.head);
    return { namespace, repository };
  }
  async function deliver(namespace: string, token: string, payload: object = PUSH): Promise<number> {
    const body = JSON.stringify(payload);
    const url = `${api.app.url}/hooks/${namespace}/code`;
    const answer = await fetch(url, { method: "POST", headers: github(token, body), body });
    await answer.text();
    return answer.status;
  }

  it("a push that the forge tells the api of is applied by the controller, with the rights of the chart", async () => {
    const { namespace, repository } = await follow();
    await writeSecret(namespace, { token: "first" });
    const after = await repository.commit("more", FUNCTION(128));
    await eventually("the Secret is seen", () => deliver(namespace, "first", { ...PUSH, after }), isTaken);
    await applied(namespace, after);
    expect((await live(namespace)).status.webhookPath).toBe(`/hooks/${namespace}/code`);
  });

  it("a value that is changed in the Secret counts, and the one before no more", async () => {
    const { namespace } = await follow();
    await writeSecret(namespace, { token: "first" });
    await eventually("the first counts", () => deliver(namespace, "first"), isTaken);
    expect(await deliver(namespace, "second")).toBe(401);
    await writeSecret(namespace, { token: "second", "token.previous": "first" });
    await eventually("the second counts", () => deliver(namespace, "second"), isTaken);
    expect(await deliver(namespace, "first")).toBe(202);
    await kubectl(cluster().kubeconfig, ["-n", namespace, "delete", "secret", "hook"]);
    await eventually("nothing counts", () => deliver(namespace, "second"), isRefused);
    await writeSecret(namespace, { token: "second" });
    await eventually("the second counts again", () => deliver(namespace, "second"), isTaken);
    expect(await deliver(namespace, "first")).toBe(401);
  });

  it("a repository without webhookSecretRef takes no delivery, nor does one whose Secret is of another kind", async () => {
    const [open, foreign] = [await follow({}), await follow()];
    await writeSecret(open.namespace, { token: "first" });
    await writeSecret(
      foreign.namespace,
      { token: "first", ".dockerconfigjson": "{}" },
      "kubernetes.io/dockerconfigjson",
    );
    const answers = [open.namespace, foreign.namespace, "nowhere"].map((namespace) => deliver(namespace, "first"));
    expect(await Promise.all(answers)).toEqual([401, 401, 401]);
  });

  it("a flood of deliveries is one write in two seconds, and what was pushed last is applied", async () => {
    const { namespace, repository } = await follow();
    await writeSecret(namespace, { token: "first" });
    await eventually("the Secret is seen", () => deliver(namespace, "first"), isTaken);
    const started = performance.now();
    const after = await repository.commit("more", FUNCTION(128));
    const statuses = new Set<number>();
    for (let turn = 0; turn < 50; turn += 1) {
      const taken = Array.from({ length: 4 }, () => deliver(namespace, "first"));
      for (const status of await Promise.all([...taken, deliver(namespace, "wrong")])) statuses.add(status);
    }
    expect([...statuses].sort()).toEqual([202, 401]);
    await applied(namespace, after);
    const seconds = (performance.now() - started) / 1_000;
    const requests = (await cluster().auditLog()).filter(
      ({ user, requestURI }) =>
        user === "system:serviceaccount:sless:sless-api" && requestURI.includes(`/${namespace}/`),
    );
    const patches = requests.filter(
      ({ verb, requestURI }) => verb === "patch" && requestURI.includes("/repositories/"),
    );
    expect(patches.length).toBeGreaterThan(0);
    expect(patches.length).toBeLessThanOrEqual(3 + seconds / 2);
    const reads = requests.filter(({ verb }) => verb === "get");
    // The repository and two keys of its Secret, once a second.
    expect(reads.length).toBeLessThanOrEqual(3 * (seconds + 5));
    expect(requests.filter(({ status }) => status === 403)).toEqual([]);
  });
});

const isTaken = (status: number) => status === 202;
const isRefused = (status: number) => status === 401;
