import { afterAll, beforeAll, expect, it } from "vitest";
import type { SlessClient } from "../../../src/server/client.ts";
import { startClusterApp, type TestClusterApp } from "../../support/cluster-app.ts";
import { eventually } from "../../support/eventually.ts";
import { gitHttpServer } from "../../support/git-http-server.ts";
import { type Files, gitRepository } from "../../support/git-repository.ts";
import { type InstantBuilder, instantBuilder } from "../../support/instant-builder.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";

const GROUP = "/apis/sless.kube5s.ru/v1alpha1";

function pythonFunction(name: string, text: string, spec: object = {}): Record<string, string> {
  const manifest = {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: "Function",
    metadata: { name },
    spec: { runtime: "python3.11", ...spec },
  };
  const trigger = {
    apiVersion: manifest.apiVersion,
    kind: "Trigger",
    metadata: { name: `${name}-http` },
    spec: { type: "http", functionRef: name },
  };
  return {
    [`functions/${name}/function.yaml`]: `${JSON.stringify(manifest)}\n---\n${JSON.stringify(trigger)}\n`,
    [`functions/${name}/handler.py`]: `def handle(event, context):\n    return ${JSON.stringify(text)}\n`,
  };
}

describeOnOwnControlPlane("sless on a cluster", {}, (controlPlane) => {
  let sless: TestClusterApp;
  let builder: InstantBuilder;
  let client: SlessClient;
  beforeAll(async () => {
    builder = instantBuilder();
    sless = await startClusterApp(controlPlane(), { builder });
    client = sless.client();
  });
  afterAll(() => sless?.close());

  const read = async (path: string) => (await controlPlane().request("GET", path)).body;
  const deployment = (namespace: string, name: string) =>
    read(`/apis/apps/v1/namespaces/sless-fn-${namespace}/deployments/${name}`);
  async function follow(files: Files) {
    const namespace = await controlPlane().createNamespace("team");
    const repository = await gitRepository(files, { bare: true });
    const { url } = await gitHttpServer(repository.dir);
    await client.create("repositories", { name: "code", url, interval: "1h" }, { namespace });
    const push = async (changes: Files) => {
      const commit = await repository.commit("change", changes);
      await client.reconcile("code", { namespace });
      return commit;
    };
    return { namespace, repository, push };
  }
  const ready = (namespace: string, name: string) =>
    eventually(
      `${name} is ready`,
      () => read(`${GROUP}/namespaces/${namespace}/functions/${name}`),
      ({ status, metadata }) =>
        status?.observedGeneration === metadata?.generation &&
        status?.conditions?.some(
          (one: { type: string; status: string }) => one.type === "Ready" && one.status === "True",
        ),
    );

  it("what is pushed becomes a Deployment with all that belongs to it, and its status says so", async () => {
    const { namespace } = await follow(pythonFunction("hello", "hi", { memoryMB: 256, env: { GREETING: "Hello" } }));
    const { status } = await ready(namespace, "hello");
    expect(status).toMatchObject({
      phase: "Ready",
      replicas: 1,
      url: `http://sless-gateway.default.svc/fn/${namespace}/hello`,
    });
    const { spec } = await deployment(namespace, "hello");
    const [container] = spec.template.spec.containers;
    expect(container.image).toBe(status.imageRef);
    expect(container.resources.limits.memory).toBe("256Mi");
    expect(container.env).toContainEqual({ name: "GREETING", value: "Hello" });
    const labels = (await read(`/api/v1/namespaces/sless-fn-${namespace}`)).metadata.labels;
    expect(labels["pod-security.kubernetes.io/enforce"]).toBe("restricted");
  });

  it("a push rolls just what it changes", async () => {
    const { namespace, push } = await follow({ ...pythonFunction("one", "1"), ...pythonFunction("two", "2") });
    const before = await Promise.all([ready(namespace, "one"), ready(namespace, "two")]);
    const generations = await Promise.all(
      ["one", "two"].map(async (name) => (await deployment(namespace, name)).metadata.generation),
    );
    await push({ "functions/one/handler.py": "def handle(event, context):\n    return 'new'\n" });
    await eventually(
      "the new image runs",
      () => read(`${GROUP}/namespaces/${namespace}/functions/one`),
      ({ status }) => status.imageRef !== before[0].status.imageRef && status.phase === "Ready",
    );
    expect((await deployment(namespace, "one")).metadata.generation).toBe(generations[0] + 1);
    expect((await deployment(namespace, "two")).metadata.generation).toBe(generations[1]);
  });

  it("a function without replicas is laid out, so that it starts with one write", async () => {
    const { namespace, push } = await follow(pythonFunction("idle", "1", { replicas: 0 }));
    const { status } = await ready(namespace, "idle");
    expect(status.conditions.find((one: { type: string }) => one.type === "Serving").reason).toBe("ScaledToZero");
    const laidOut = await eventually(
      "a Deployment is there",
      () => deployment(namespace, "idle"),
      ({ spec }) => spec,
    );
    expect(laidOut.spec.replicas).toBe(0);
    expect(builder.built).toHaveLength(new Set(builder.built).size);
    await push(pythonFunction("idle", "1", { replicas: 1 }));
    await eventually(
      "it runs",
      () => deployment(namespace, "idle"),
      ({ status: live }) => live?.readyReplicas === 1,
    );
  });

  it("what leaves the repository goes with all that was made for it, and the namespaces stay", async () => {
    const { namespace, push } = await follow({ ...pythonFunction("gone", "1"), ...pythonFunction("stays", "2") });
    await Promise.all([ready(namespace, "gone"), ready(namespace, "stays")]);
    await push({ "functions/gone/function.yaml": null, "functions/gone/handler.py": null });
    await eventually(
      "it is gone",
      async () => [
        (await controlPlane().request("GET", `${GROUP}/namespaces/${namespace}/functions/gone`)).status,
        (await read(`/apis/apps/v1/namespaces/sless-fn-${namespace}/deployments`)).items.map(
          (item: { metadata: { name: string } }) => item.metadata.name,
        ),
      ],
      ([status, names]) => status === 404 && JSON.stringify(names) === '["stays"]',
    );
    expect((await read(`/api/v1/namespaces/sless-fn-${namespace}`)).status.phase).toBe("Active");
  });

  it("a child that somebody deletes is back at once", async () => {
    const { namespace } = await follow(pythonFunction("back", "1"));
    await ready(namespace, "back");
    const { uid } = (await deployment(namespace, "back")).metadata;
    await controlPlane().request("DELETE", `/apis/apps/v1/namespaces/sless-fn-${namespace}/deployments/back`);
    await eventually(
      "another Deployment is there",
      () => deployment(namespace, "back"),
      ({ metadata }) => metadata?.uid !== undefined && metadata.uid !== uid,
    );
  });

  it("a tenant's token opens his own namespace and no other", async () => {
    const { namespace } = await follow(pythonFunction("secret", "1"));
    await ready(namespace, "secret");
    const token = await controlPlane().tokenFor({ user: "mallory" });
    const stranger = sless.client(token);
    await expect(stranger.list("functions", { namespace })).rejects.toMatchObject({ status: 403 });
    await expect(sless.client("nonsense").list("functions", { namespace })).rejects.toMatchObject({ status: 401 });
  });
});
