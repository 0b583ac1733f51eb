import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { API_RESOURCES, apiPath } from "../../src/kubernetes/index.ts";
import { kubernetesSecrets, watchSecrets } from "../../src/kubernetes-secrets/index.ts";
import { secretStoreContract } from "../contract/secret-store.ts";
import { clusterClient } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { describeOnCluster, type TestCluster } from "../support/kubernetes/index.ts";

const MERGE = { replace: false };
const base64 = (text: string) => Buffer.from(text).toString("base64");

async function openSecrets(cluster: TestCluster) {
  const client = clusterClient(cluster);
  const namespace = await cluster.createNamespace();
  const secrets = kubernetesSecrets({ client });
  const path = (name?: string) => apiPath(API_RESOURCES.Secret, { namespace, name });
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they asked for
  const live = (name: string) => client.request<any>({ method: "GET", path: path(name) });
  const create = (name: string, type: string, data: Record<string, string>, rest: object = {}) =>
    client.request({ method: "POST", path: path(), body: { metadata: { name, ...rest }, type, data } });
  return { client, namespace, secrets, live, create };
}

describeOnCluster("secrets of Kubernetes", (cluster) => {
  secretStoreContract(async () => {
    // The suite writes into namespaces of its own names.
    const { namespace, secrets } = await openSecrets(cluster());
    const there = (asked: string) =>
      asked === "demo" ? namespace : asked === "other" || asked === "none" ? `${namespace}-${asked}` : asked;
    const back = <T extends { namespace: string }>(item: T): T => ({ ...item, namespace: "demo" });
    return {
      read: (asked, name, key) => secrets.read(there(asked), name, key),
      store: {
        list: async (asked) => (await secrets.list(there(asked))).map(back),
        async get(key) {
          const item = await secrets.get({ ...key, namespace: there(key.namespace) });
          return item && back(item);
        },
        async write(key, values, options) {
          const { item, created } = await secrets.write({ ...key, namespace: there(key.namespace) }, values, options);
          return { item: back(item), created };
        },
        delete: (key) => secrets.delete({ ...key, namespace: there(key.namespace) }),
      },
    };
  });

  it("one that is made is Opaque and says where it comes from; what others put there stays", async () => {
    const { namespace, secrets, live, create } = await openSecrets(cluster());
    await secrets.write({ namespace, name: "api" }, new Map([["token", "t"]]), MERGE);
    expect(await live("api")).toMatchObject({
      type: "Opaque",
      metadata: { labels: { "sless.kube5s.ru/origin": "api" } },
      data: { token: base64("t") },
    });
    await create("theirs", "Opaque", { a: base64("1") }, { labels: { team: "x" } });
    await secrets.write({ namespace, name: "theirs" }, new Map([["b", "2"]]), MERGE);
    const theirs = await live("theirs");
    expect(theirs.metadata.labels).toEqual({ team: "x" });
    expect(theirs.data).toEqual({ a: base64("1"), b: base64("2") });
  });

  it.each([
    ["kubernetes.io/dockerconfigjson", { ".dockerconfigjson": base64("{}") }, {}],
    ["kubernetes.io/service-account-token", {}, { annotations: { "kubernetes.io/service-account.name": "default" } }],
    ["example.com/machine", { key: base64("v") }, {}],
  ] as const)("one of type %s is not shown, read, overwritten or deleted", async (type, data, rest) => {
    const { namespace, secrets, live, create } = await openSecrets(cluster());
    const key = { namespace, name: "foreign" };
    await create("foreign", type, data, rest);
    const { metadata } = await live("foreign");
    expect(await secrets.list(namespace)).toEqual([]);
    expect(await secrets.get(key)).toBeUndefined();
    for (const field of [".dockerconfigjson", "token", "key"])
      expect(await secrets.read(namespace, "foreign", field)).toBeUndefined();
    const refused = secrets.write(key, new Map([["key", "geheim"]]), MERGE);
    await expect(refused).rejects.toMatchObject({ code: "secret_foreign" });
    await expect(refused).rejects.not.toThrow(/geheim/);
    expect(await secrets.delete(key)).toBe(false);
    expect((await live("foreign")).metadata.uid).toBe(metadata.uid);
  });

  it("credentials of the types that Kubernetes has for them are read", async () => {
    const { namespace, secrets, create } = await openSecrets(cluster());
    await create("git", "kubernetes.io/basic-auth", { username: base64("bot"), password: base64("p") });
    expect(await secrets.read(namespace, "git", "password")).toBe("p");
    expect(await secrets.list(namespace)).toEqual([{ namespace, name: "git", keys: ["password", "username"] }]);
  });

  it("an equal write is none", async () => {
    const { namespace, secrets, live } = await openSecrets(cluster());
    const key = { namespace, name: "api" };
    const write = () => secrets.write(key, new Map([["token", "t"]]), { replace: true });
    await write();
    const before = (await live("api")).metadata.resourceVersion;
    expect(await write()).toMatchObject({ created: false });
    expect((await live("api")).metadata.resourceVersion).toBe(before);
  });

  it("what the API server refuses is told without a value", async () => {
    const { namespace, secrets, create } = await openSecrets(cluster());
    await create("fixed", "Opaque", { a: base64("1") }, {});
    const big = secrets.write({ namespace, name: "big" }, new Map([["a", "geheim".repeat(200_000)]]), MERGE);
    await expect(big).rejects.toMatchObject({ code: "cluster_refused" });
    await expect(big).rejects.not.toThrow(/geheim|Z2VoZWlt/);
    const away = secrets.write({ namespace: `${namespace}-none`, name: "a" }, new Map([["a", "1"]]), MERGE);
    await expect(away).rejects.toMatchObject({ code: "cluster_refused" });
  });

  it("two processes that write at once lose nothing", async () => {
    const { namespace, secrets } = await openSecrets(cluster());
    const other = kubernetesSecrets({ client: clusterClient(cluster()) });
    const key = { namespace, name: "api" };
    const names = Array.from({ length: 6 }, (_, index) => `k${index}`);
    await Promise.all(
      names.map((name, index) => (index % 2 ? secrets : other).write(key, new Map([[name, name]]), MERGE)),
    );
    expect((await secrets.get(key))?.keys).toEqual(names);
  });

  it("listeners hear of changes in any process, and values are not watched", async () => {
    const { client, namespace, create } = await openSecrets(cluster());
    const watch = watchSecrets(client, { clock: systemClock });
    const watching = new AbortController();
    onTestFinished(() => watching.abort());
    await watch.start(watching.signal);
    const secrets = kubernetesSecrets({ client, watch });
    const heard: string[] = [];
    secrets.onChange((secret) => {
      if (secret.namespace === namespace) heard.push(secret.name);
    });
    await create("api", "Opaque", { token: base64("geheim") });
    await eventually(
      "it is heard",
      () => heard,
      (names) => names.includes("api"),
    );
    expect(JSON.stringify([...watch.all()])).not.toContain(base64("geheim"));
    heard.length = 0;
    await secrets.write({ namespace, name: "api" }, new Map([["token", "2"]]), MERGE);
    await secrets.delete({ namespace, name: "api" });
    await eventually(
      "both are heard",
      () => heard,
      ({ length }) => length === 2,
    );
  });
});
