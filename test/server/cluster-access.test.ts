import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { requestAuth } from "../../src/auth/index.ts";
import { kubernetesAuthority } from "../../src/auth/kubernetes/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import { openKubernetesClient } from "../../src/kubernetes/index.ts";
import { ROUTE_RULES } from "../../src/server/route-access.ts";
import { describeOnCluster, type TestCluster, untilAllowed } from "../support/kubernetes/index.ts";
import { serverFixture } from "./server-fixture.ts";

const FUNCTIONS = { verb: "list", group: "sless.kube5s.ru", resource: "functions" };
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MANIFEST = join(import.meta.dirname, "../../deploy/manifests/rbac-users.yaml");

/** What a role lets its holder do below a namespace in which it is bound. */
const EXPECTED: Record<string, (method: string, route: string) => boolean> = {
  "sless-viewer": (method, route) => method === "GET" && !/\/(secrets|source|events)/.test(route),
  "sless-tenant-editor": (_method, route) => !route.endsWith("/ensure"),
};

const rules = Object.entries(ROUTE_RULES)
  .filter(([, rule]) => typeof rule === "function")
  .map(([key]) => {
    const [method = "", route = ""] = key.split(" ");
    return { method, route, isNamespaced: route.includes(":namespace") };
  });

/** Applies the chart's roles for users under names of this run's own. */
async function applyRoles(cluster: TestCluster, suffix: string): Promise<void> {
  const documents = parseAllDocuments(await readFile(MANIFEST, "utf8")).map((document) => document.toJS());
  for (const role of documents) {
    const name = `${role.metadata.name}-${suffix}`;
    // Aggregation would give the roles to what other tests do.
    const body = { ...role, metadata: { name } };
    const { status } = await cluster.request("POST", `${RBAC}/clusterroles`, { body });
    expect(status).toBe(201);
  }
}

async function bind(cluster: TestCluster, namespace: string, role: string, subject: object): Promise<void> {
  const body = {
    metadata: { generateName: "test-" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [subject],
  };
  const { status } = await cluster.request("POST", `${RBAC}/namespaces/${namespace}/rolebindings`, { body });
  expect(status).toBe(201);
}

describeOnCluster("a server on a cluster", (cluster) => {
  let suffix = "";
  let mine = "";
  let theirs = "";
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    [mine, theirs] = await Promise.all([cluster().createNamespace("tenant-a"), cluster().createNamespace("tenant-b")]);
    suffix = mine.slice(-8).replaceAll(/^-+/g, "");
    await applyRoles(cluster(), suffix);
    for (const role of Object.keys(EXPECTED)) {
      const path = `/api/v1/namespaces/${mine}/serviceaccounts`;
      await cluster().request("POST", path, { body: { metadata: { name: role } } });
      await bind(cluster(), mine, `${role}-${suffix}`, { kind: "ServiceAccount", name: role, namespace: mine });
      const token = await cluster().tokenFor({ serviceAccount: role, namespace: mine });
      await untilAllowed(cluster(), token, { ...FUNCTIONS, namespace: mine });
      tokens[role] = token;
    }
    tokens.nobody = await cluster().tokenFor({ user: `nobody-${suffix}` });
  });

  async function openServer(kubeconfig = cluster().kubeconfig) {
    const client = openKubernetesClient({ from: { file: kubeconfig } });
    onTestFinished(() => client.close());
    const auth = requestAuth(kubernetesAuthority({ client, clock: systemClock }));
    const { url } = await serverFixture({ ...auth });
    return async (method: string, path: string, token?: string, scheme = "Bearer") => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `${scheme} ${token}` };
      const answer = await fetch(`${url}${path}`, { method, headers });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    };
  }
  const pathIn = (route: string, namespace: string) => route.replace(":namespace", namespace).replace(":name", "hello");

  it.each(Object.entries(EXPECTED))(
    "%s may in its namespace what it is for, and nothing elsewhere",
    async (role, may) => {
      const send = await openServer();
      const token = tokens[role] as string;
      for (const { method, route } of rules.filter(({ isNamespaced }) => isNamespaced)) {
        const inMine = await send(method, pathIn(route, mine), token);
        expect([method, route, inMine.status === 403]).toEqual([method, route, !may(method, route)]);
        expect([method, route, inMine.status]).not.toEqual([method, route, 401]);
        const inTheirs = await send(method, pathIn(route, theirs), token);
        expect([method, route, inTheirs.status]).toEqual([method, route, 403]);
        expect(JSON.parse(inTheirs.text).code).toBe("access_denied");
      }
    },
  );

  it("whoever has no role may nothing but ask who he is", async () => {
    const send = await openServer();
    for (const { method, route } of rules) {
      const { status } = await send(method, pathIn(route, mine), tokens.nobody);
      expect([method, route, status]).toEqual([method, route, route === "/v1/whoami" ? 200 : 403]);
    }
  });

  it("a tenant is told the same of what is there in another's namespace and of what is not, whole or not", async () => {
    const send = await openServer();
    const token = tokens["sless-tenant-editor"];
    const same = (text: string, namespace: string) => text.replaceAll(namespace, "NS");
    const there = await send("GET", `/v1/namespaces/${theirs}/functions/hello`, token);
    const nowhere = await send("GET", "/v1/namespaces/no-such-namespace/functions/hello", token);
    expect([there.status, same(there.text, theirs)]).toEqual([nowhere.status, same(nowhere.text, "no-such-namespace")]);
    expect(there.text).toContain(`get functions.sless.kube5s.ru`);
    expect(there.text).toContain(`kubectl create rolebinding`);
  });

  it("a name that belongs to no path of Kubernetes is no way around", async () => {
    const send = await openServer();
    const token = tokens["sless-tenant-editor"];
    for (const namespace of [
      `${mine}%2F..%2F${theirs}`,
      "..",
      "%2e%2e",
      `${mine}%00`,
      `${mine.toUpperCase()}`,
      "*",
      "%20",
    ]) {
      const { status } = await send("GET", `/v1/namespaces/${namespace}/functions`, token);
      expect([namespace, [400, 403, 404].includes(status)]).toEqual([namespace, true]);
    }
  });

  it("who asks without a token that counts is challenged", async () => {
    const send = await openServer();
    const elsewhere = await cluster().tokenFor(
      { serviceAccount: "sless-viewer", namespace: mine },
      { audiences: ["somewhere-else"] },
    );
    const path = `/v1/namespaces/${mine}/functions`;
    const cases: [string | undefined, string?][] = [
      [undefined],
      ["garbage"],
      [`${tokens["sless-viewer"]}x`],
      [elsewhere],
      [tokens["sless-viewer"], "Basic"],
      ["", "Bearer"],
    ];
    for (const [token, scheme] of cases) {
      const { status, headers, text } = await send("GET", path, token, scheme);
      expect([status, headers.get("www-authenticate"), JSON.parse(text).code]).toEqual([
        401,
        'Bearer realm="sless"',
        "unauthenticated",
      ]);
    }
  });

  it("a token says whose it is", async () => {
    const send = await openServer();
    const { text } = await send("GET", "/v1/whoami", tokens["sless-viewer"]);
    expect(JSON.parse(text)).toMatchObject({
      subject: `system:serviceaccount:${mine}:sless-viewer`,
      namespace: mine,
      authentication: "token",
    });
    expect(JSON.parse(text).groups).toContain("system:authenticated");
  });

  it("a service account that is deleted is out", async () => {
    const path = `/api/v1/namespaces/${mine}/serviceaccounts`;
    await cluster().request("POST", path, { body: { metadata: { name: "leaver" } } });
    const token = await cluster().tokenFor({ serviceAccount: "leaver", namespace: mine });
    await cluster().request("DELETE", `${path}/leaver`);
    const send = await openServer();
    expect((await send("GET", "/v1/whoami", token)).status).toBe(401);
  });

  it("sless without the right to ask lets nobody in", async () => {
    const send = await openServer(await cluster().kubeconfigFor(tokens.nobody as string));
    const { status, text } = await send("GET", `/v1/namespaces/${mine}/functions`, tokens["sless-viewer"]);
    expect([status, JSON.parse(text).code]).toEqual([503, "cluster_unavailable"]);
    expect(text).not.toContain("tokenreviews");
  });
});
