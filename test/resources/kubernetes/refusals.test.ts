import { describe, expect, it } from "vitest";
import type { ObjectIntent } from "../../../src/apis/index.ts";
import { SlessError } from "../../../src/errors/index.ts";
import type { ResourceStore } from "../../../src/resources/index.ts";
import { openKubernetesStore } from "../../../src/resources/kubernetes/index.ts";
import { clientOf, fails, fakeApiServer, writeKubeconfig } from "../../kubernetes/api-server.ts";
import { clusterStore } from "../../support/cluster-store.ts";
import { eventually } from "../../support/eventually.ts";
import { functionIntent, manyLabels } from "../../support/function-intent.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { refuseObjects } from "../../support/kubernetes/refuse-objects.ts";
import { memoryStore } from "../../support/memory-store.ts";

async function errorOf(work: Promise<unknown>): Promise<SlessError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SlessError);
  return error as SlessError;
}

type Spoiled = Record<string, (intent: ObjectIntent<"Function">) => void>;

/** What either store refuses, and of which the paths are told. */
const INVALID: Spoiled = {
  "values of other types": ({ spec }) => Object.assign(spec, { env: { A: 1 }, memoryMB: "much" }),
  "a value out of range beside one of another type": ({ spec }) =>
    Object.assign(spec, { replicas: -1, timeoutSec: "1" }),
  "values out of range": ({ spec }) => Object.assign(spec, { memoryMB: 1, replicas: 101 }),
  "an unknown field": ({ spec }) => Object.assign(spec, { memory: 128 }),
  "a reserved name": ({ spec }) => (spec.env = { PORT: "80" }),
  "a name that is no variable": ({ spec }) => (spec.env = { "a-b": "1" }),
  "a name in env and secretEnv": ({ spec }) => {
    spec.env = { A: "1" };
    spec.secretEnv = { A: { secret: "api", key: "token" } };
  },
  "a source folder above": ({ spec }) => (spec.sourceDir = "../other"),
  "an entry point that is none": ({ spec }) => (spec.entrypoint = "handle"),
  "a runtime that is no name": ({ spec }) => (spec.runtime = "Python 3"),
  "a label value with a space": ({ metadata }) => (metadata.labels = { a: "b c" }),
};

describeOnCluster("refusals of an API server", (cluster) => {
  async function opened() {
    const { store } = clusterStore(cluster());
    return { store, namespace: await cluster().createNamespace("refusals") };
  }

  describe("an invalid object has a message per path, as in the embedded store", () => {
    it.each(Object.entries(INVALID))("%s", async (_name, spoil) => {
      const { store, namespace } = await opened();
      const intent = functionIntent(namespace, "hello");
      spoil(intent);
      const embedded = await errorOf((await memoryStore()).apply(intent, { owner: "sync" }));
      const paths = Object.keys(embedded.details).filter((name) => name !== "cause");
      const writes = [() => store.apply(intent, { owner: "sync" }), () => store.create(intent, { owner: "api" })];
      for (const write of writes) {
        const error = await errorOf(write());
        expect(error.code).toBe("invalid_request");
        for (const [path, message] of Object.entries(error.details)) {
          expect([...paths, "cause"]).toContain(path);
          expect(String(message)).not.toMatch(/valueUnstructured|in body|<nil>|Invalid value/);
        }
        expect(Object.keys(error.details).length).toBeGreaterThan(1);
      }
    });
  });

  const patches: Record<string, { spec: Record<string, unknown>; path: string }> = {
    "a value of another type": { spec: { replicas: "2" }, path: "spec.replicas" },
    "a value out of range": { spec: { replicas: 1_000 }, path: "spec.replicas" },
    "an unknown field": { spec: { replica: 2 }, path: "spec.replica" },
  };
  it.each(Object.entries(patches))(
    "a patch with %s names the path and shows nothing else",
    async (_name, { spec, path }) => {
      const { store, namespace } = await opened();
      const { metadata } = await store.create(functionIntent(namespace, "hello", { env: { KEY: "hunter2" } }), {
        owner: "api",
      });
      const error = await errorOf(store.patch("Function", metadata, { spec }, { owner: "api" }));
      expect(error.code).toBe("invalid_request");
      expect(Object.keys(error.details).sort()).toEqual(["cause", path]);
      expect(error.message).not.toContain("hunter2");
    },
  );

  it("a status with an unknown field or value is refused by its path", async () => {
    const { store, namespace } = await opened();
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const phase = await errorOf(store.updateStatus(created, { phase: "Done" as "Ready" }));
    expect(phase.details).toHaveProperty(["status.phase"]);
    const field = await errorOf(store.updateStatus(created, { faze: "Ready" } as object));
    expect(field.details).toHaveProperty(["status.faze"]);
  });

  const namespaceless: Record<string, (store: ResourceStore) => Promise<unknown>> = {
    create: (store) => store.create(functionIntent("nobodys", "hello"), { owner: "api" }),
    apply: (store) => store.apply(functionIntent("nobodys", "hello"), { owner: "sync", absent: true }),
  };
  it.each(Object.entries(namespaceless))("%s in a namespace that does not exist says so", async (_name, write) => {
    const error = await errorOf(write(clusterStore(cluster()).store));
    expect(error).toMatchObject({ code: "namespace_missing", details: { namespace: "nobodys" } });
  });

  it("a namespace that does not exist holds nothing", async () => {
    const { store } = await opened();
    const key = { namespace: "nobodys", name: "hello" };
    expect(await store.get("Function", key)).toBeUndefined();
    expect((await store.list("Function", { namespace: "nobodys" })).items).toEqual([]);
    expect(await store.delete("Function", key)).toBe("absent");
    expect(await store.appliedFields("Function", key, "sync")).toEqual([]);
  });

  it.each([4_500, 9_000])("an object of %i times 380 bytes is too large", async (count) => {
    const { store, namespace } = await opened();
    const metadata = { labels: manyLabels(count) };
    const write = store.apply(functionIntent(namespace, "hello", { metadata }), { owner: "sync" });
    expect((await errorOf(write)).code).toBe("too_large");
  });

  it("what RBAC does not allow is told in the server's words", async () => {
    const { namespace } = await opened();
    const token = await cluster().tokenFor({ user: "ada" });
    const file = await cluster().kubeconfigFor(token);
    const { store } = clusterStore(cluster(), { from: { file } });
    const key = { namespace, name: "hello" };
    const works = [
      () => store.get("Function", key),
      () => store.list("Function", { namespace }),
      () => store.apply(functionIntent(namespace, "hello"), { owner: "sync" }),
      () => store.delete("Function", key),
    ];
    for (const work of works) {
      const error = await errorOf(work());
      expect(error.code).toBe("cluster_refused");
      expect(error.message).toMatch(/User "ada" cannot \w+ resource "functions"/);
    }
  });

  it("a quota is told in the server's words", async () => {
    const { store, namespace } = await opened();
    const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
    const hard = { "count/functions.sless.kube5s.ru": "0" };
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "quota" }, spec: { hard } };
    await cluster().request("POST", path, { body: quota });
    // The controller of quotas finds custom resources in its own time; what it comes to is the same.
    await cluster().request("PATCH", `${path}/quota/status`, {
      contentType: "application/merge-patch+json",
      body: { status: { hard, used: { "count/functions.sless.kube5s.ru": "0" } } },
    });
    // It takes a moment until the quota counts: what is applied before that is let in, or refused in other words.
    let applied = 0;
    const apply = () => {
      applied += 1;
      const applying = store.apply(functionIntent(namespace, `hello-${applied}`), { owner: "sync" });
      return applying.then(
        () => undefined,
        ({ code, message }: SlessError) => ({ code, message }),
      );
    };
    const isCounted = (refusal?: { message: string }) => refusal?.message.includes("exceeded quota: quota") ?? false;
    expect(await eventually("the quota is told", apply, isCounted)).toMatchObject({ code: "cluster_refused" });
  });

  it("what an admission webhook does not want is told in its words, and hurts no other object", async () => {
    const { store, namespace } = await opened();
    await using _ = await refuseObjects(cluster(), {
      namespace,
      apiGroup: "sless.kube5s.ru",
      resource: "functions",
      because: ({ metadata }) => (metadata.name === "hello" ? "hello is on the list" : undefined),
    });
    const error = await errorOf(store.apply(functionIntent(namespace, "hello"), { owner: "sync" }));
    expect(error.code).toBe("cluster_refused");
    expect(error.message).toContain("hello is on the list");
    await store.apply(functionIntent(namespace, "other"), { owner: "sync" });
  });

  it("a name that only the API server knows to be none is refused by its path", async () => {
    const { store, namespace } = await opened();
    const error = await errorOf(store.create(functionIntent(namespace, "9lives"), { owner: "api" }));
    expect(error.code).toBe("invalid_request");
    expect(Object.keys(error.details)).toContain("metadata.name");
  });
});

describe("answers that a healthy cluster does not give", () => {
  const answers: Record<string, { status: number; body: object; code: string; says: string }> = {
    "kinds that are not installed are no objects that are gone": {
      status: 404,
      body: { message: "404 page not found" },
      code: "cluster_unavailable",
      says: "install the CustomResourceDefinitions",
    },
    "credentials that are refused": {
      status: 401,
      body: {},
      code: "cluster_unavailable",
      says: "credentials of sless",
    },
    "etcd is away": {
      status: 500,
      body: { message: "etcdserver: request timed out" },
      code: "cluster_unavailable",
      says: "request timed out",
    },
    "a quota that is not counted yet": {
      status: 403,
      body: { reason: "Forbidden", message: 'functions "hello" is forbidden: status unknown for quota: sless' },
      code: "cluster_unavailable",
      says: "status unknown for quota",
    },
    "a webhook that refuses with 400": {
      status: 400,
      body: { message: 'admission webhook "policy.example.com" denied the request: no Go on Fridays' },
      code: "cluster_refused",
      says: "no Go on Fridays",
    },
    "a webhook that does not answer": {
      status: 500,
      body: { reason: "InternalError", message: "Internal error occurred: failed calling webhook" },
      code: "cluster_unavailable",
      says: "failed calling webhook",
    },
  };
  it.each(Object.entries(answers))("%s", async (_name, { status, body, code, says }) => {
    const server = await fakeApiServer(fails(status, body));
    const store = openKubernetesStore({ client: clientOf(await writeKubeconfig(server, {})) });
    const error = await errorOf(store.get("Function", { namespace: "demo", name: "hello" }));
    expect(error).toMatchObject({ code, message: expect.stringContaining(says) });
  });

  it("nobody answers", async () => {
    const server = await fakeApiServer();
    const store = openKubernetesStore({ client: clientOf(await writeKubeconfig(server, {})) });
    await server.kill();
    const error = await errorOf(store.list("Function"));
    expect(error.code).toBe("cluster_unavailable");
  });
});
