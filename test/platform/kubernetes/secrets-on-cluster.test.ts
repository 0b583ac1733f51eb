import { expect, it } from "vitest";
import type { WorkloadSpec } from "../../../src/platform/index.ts";
import { specOf, untilCurrent, untilState } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { childPath, type PlatformWorld, platformOnCluster } from "./platform-on-cluster.ts";

const IMAGE = `registry.local/image@sha256:${"a".repeat(64)}`;
const CHILDREN = "sless.kube5s.ru/name=hello";

const helloIn = ({ namespace }: PlatformWorld, more: Partial<WorkloadSpec> = {}): WorkloadSpec =>
  specOf(IMAGE, {
    workload: { kind: "Function", namespace, name: "hello" },
    secretEnv: { TOKEN: { secret: "api", key: "token" } },
    ...more,
  });
const decoded = (secret: { data: Record<string, string> }) =>
  Object.fromEntries(Object.entries(secret.data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));

describeOnCluster("secrets of users", (cluster) => {
  it("only the keys that are named are copied, and other contents roll the pods exactly once", async () => {
    const world = await platformOnCluster(cluster());
    await world.secret("api", { token: "one", other: "hidden" });
    const spec = helloIn(world);
    await world.keep(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    const copies = async () => (await world.list("secrets", CHILDREN)).map(decoded);
    expect(await copies()).toEqual([{ TOKEN: "one" }]);
    await world.secret("api", { token: "one", other: "changed" }, { team: "a" });
    await world.secret("api", { token: "two" });
    await eventually("the old copy is gone", copies, (seen) => JSON.stringify(seen) === '[{"TOKEN":"two"}]');
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ serving: 1 });
    expect(await world.list("replicasets")).toHaveLength(2);
    const [pod] = await world.list("pods");
    const [{ metadata }] = await world.list("secrets", CHILDREN);
    expect(pod.spec.containers[0].env).toContainEqual({
      name: "TOKEN",
      valueFrom: { secretKeyRef: { name: metadata.name, key: "TOKEN" } },
    });
  });

  it("versions that never serve leave no copies behind without end, and what serves keeps its own", async () => {
    const world = await platformOnCluster(cluster());
    const all = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`key${index}`, `value${index}`]));
    await world.secret("api", { token: "one", ...all });
    const spec = helloIn(world);
    await eventually(
      "the secret is seen",
      () => world.platform.apply(spec, 1),
      (now) => !now.failure,
    );
    await untilCurrent(world.platform, spec.workload);
    const own = async () =>
      (await world.list("pods"))[0].spec.containers[0].env.find(({ name }: { name: string }) => name === "TOKEN");
    const { name } = (await own()).valueFrom.secretKeyRef;
    const imageRef = `registry.local/missing@sha256:${"a".repeat(64)}`;
    for (const key of Object.keys(all)) {
      const next = { ...spec, imageRef, secretEnv: { TOKEN: { secret: "api", key } } };
      const { metadata } = (await world.platform.apply(next, 1)) && (await world.get("deployments", "hello"));
      const seen = async () => (await world.get("deployments", "hello")).status?.observedGeneration ?? 0;
      await eventually("Kubernetes acts on it", seen, (generation) => generation >= metadata.generation);
    }
    const left = async () => {
      await world.platform.apply({ ...spec, imageRef }, 1);
      const names = (await world.list("secrets", CHILDREN)).map(({ metadata }) => metadata.name);
      return { names, revisions: (await world.list("replicasets")).length };
    };
    // Ten and ten that are kept, those that have pods, and the one that was written last.
    const seen = await eventually("few are left", left, (now) => now.revisions <= 14 && now.names.length <= 24);
    expect(seen.names).toContain(name);
    await world.platform.apply(spec, 1);
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ serving: 1 });
  });

  it("a secret that is not there is a failure by name, mended without a new spec", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    const state = await world.keep(spec, 1);
    expect(state).toMatchObject({ serving: 0, current: false, failure: { reason: "SecretMissing" } });
    expect(state?.failure?.message).toContain("Secret api has no key token");
    expect(await world.platform.state(spec.workload)).toEqual(state);
    await world.secret("api", { wrong: "x" });
    await world.secret("api", { token: "t0ken" });
    const seen = await untilCurrent(world.platform, spec.workload);
    expect(seen).not.toHaveProperty("failure");
  });

  it("a secret that goes is told, and what serves goes on with what it has", async () => {
    const world = await platformOnCluster(cluster());
    await world.secret("api", { token: "one" });
    const spec = helloIn(world);
    await world.keep(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    await cluster().request("DELETE", childPath(world.namespace, "secrets", "api"));
    const state = await untilState(world.platform, spec.workload, (now) => now?.failure !== undefined);
    expect(state).toMatchObject({ serving: 1, current: false, failure: { reason: "SecretMissing" } });
    expect(await world.list("secrets", CHILDREN)).toHaveLength(1);
  });

  it("without its secret a function can still be stopped", async () => {
    const world = await platformOnCluster(cluster());
    await world.secret("api", { token: "one" });
    const spec = helloIn(world);
    await eventually(
      "the secret is seen",
      () => world.platform.apply(spec, 1),
      (state) => state.failure === undefined,
    );
    await untilCurrent(world.platform, spec.workload);
    await cluster().request("DELETE", childPath(world.namespace, "secrets", "api"));
    await eventually(
      "it is missed",
      () => world.platform.apply(spec, 1),
      (state) => state.failure !== undefined,
    );
    await world.platform.apply(spec, 0);
    expect(await untilCurrent(world.platform, spec.workload)).toEqual({ serving: 0, current: true });
  });

  it("a secret of another namespace of the same name is not that of the function", async () => {
    const [mine, foreign] = await Promise.all([platformOnCluster(cluster()), platformOnCluster(cluster())]);
    await foreign.secret("api", { token: "foreign" });
    const spec = helloIn(mine);
    await eventually(
      "the foreign secret is seen",
      () => foreign.platform.apply(helloIn(foreign), 1),
      (state) => state.failure === undefined,
    );
    expect(await mine.platform.apply(spec, 1)).toMatchObject({ failure: { reason: "SecretMissing" } });
  });
});

describeOnCluster("the registry's credentials", (cluster) => {
  const config = (password: string) =>
    JSON.stringify({
      auths: { "registry.example.com": { auth: password }, "push.example.com": { auth: "never" } },
      credsStore: "never",
    });

  it("are copied for pulling alone into deploy namespaces, and kept as the original is", async () => {
    const home = await cluster().createNamespace("home");
    const original = `${childPath(home, "secrets", "registry")}?fieldManager=admin&force=true`;
    const write = (password: string) =>
      cluster().request("PATCH", original, {
        body: {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "registry" },
          type: "kubernetes.io/dockerconfigjson",
          stringData: { ".dockerconfigjson": config(password) },
        },
      });
    await write("one");
    const registry = { host: "registry.example.com", secret: { namespace: home, name: "registry" } };
    const world = await platformOnCluster(cluster(), { settings: { registry } });
    const spec = helloIn(world, { secretEnv: {} });
    await world.platform.apply(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    const copied = async () => {
      const secret = await world.get("secrets", "sless-registry");
      return secret && decoded(secret)[".dockerconfigjson"];
    };
    const only = (auth: string) => JSON.stringify({ auths: { "registry.example.com": { auth } } });
    expect(await copied()).toBe(only("one"));
    expect((await world.get("deployments", "hello")).spec.template.spec.imagePullSecrets).toEqual([
      { name: "sless-registry" },
    ]);
    await write("two");
    await eventually("the copy is as the original", copied, (seen) => seen === only("two"));
    await world.drop("secrets", "sless-registry");
    await eventually("the copy is back", copied, (seen) => seen === only("two"));
    expect(await world.list("replicasets")).toHaveLength(1);
  });
});
