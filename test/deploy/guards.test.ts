// Renders with "helm", applies with "kubectl".
import { beforeAll, describe, expect, it } from "vitest";
import { kubernetesSecrets } from "../../src/kubernetes-secrets/index.ts";
import { createTenancy } from "../../src/tenancy/index.ts";
import { clusterClient } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { renderChart } from "../support/helm.ts";
import { asList, kubectl } from "../support/kubectl.ts";
import { describeOnOwnControlPlane, type TestCluster } from "../support/kubernetes/index.ts";
import { freshName } from "../tenancy/tenancy-world.ts";
import { SHARED_CLAIM } from "./value-sets.ts";

type Account = "sless-api" | "sless-controller" | "sless";

/** Namespaces that are there, with their labels. */
const OURS = { "app.kubernetes.io/managed-by": "sless" };
const NAMESPACES: Record<string, Record<string, string>> = {
  "team-a": OURS,
  foreign: {},
  "sless-fn-team-a": {
    ...OURS,
    "sless.kube5s.ru/tenant": "team-a",
    "pod-security.kubernetes.io/enforce": "restricted",
  },
  "sless-fn-foreign": {},
  "sless-fn-taken": { ...OURS, "sless.kube5s.ru/tenant": "another" },
  "sless-builds": OURS,
};
const [USER, FOREIGN, DEPLOY, BUILDS] = ["team-a", "foreign", "sless-fn-team-a", "sless-builds"];
const ELSEWHERE = ["kube-system", "default", "foreign", "sless-fn-foreign", "sless-fn-taken"];
const RIGHTS = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
const GUARDS = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];

const POD = {
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "a", image: "a" }], restartPolicy: "Never" },
};
const DEPLOYMENT = {
  selector: { matchLabels: { a: "b" } },
  template: { ...POD, spec: { containers: POD.spec.containers } },
};
const binding = {
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "sless-tenant-editor" },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ada" }],
};
/** Plural → path below which it is, kind, and what a new one holds. */
const KINDS: Record<string, { readonly api: string; readonly kind: string; readonly fields: object }> = {
  secrets: { api: "api/v1", kind: "Secret", fields: {} },
  deployments: { api: "apis/apps/v1", kind: "Deployment", fields: { spec: DEPLOYMENT } },
  replicasets: { api: "apis/apps/v1", kind: "ReplicaSet", fields: { spec: DEPLOYMENT } },
  jobs: { api: "apis/batch/v1", kind: "Job", fields: { spec: { template: POD } } },
  services: { api: "api/v1", kind: "Service", fields: { spec: { ports: [{ port: 80 }] } } },
  resourcequotas: { api: "api/v1", kind: "ResourceQuota", fields: { spec: { hard: { pods: "1" } } } },
  limitranges: { api: "api/v1", kind: "LimitRange", fields: { spec: { limits: [] } } },
  networkpolicies: { api: "apis/networking.k8s.io/v1", kind: "NetworkPolicy", fields: { spec: { podSelector: {} } } },
  rolebindings: { api: "apis/rbac.authorization.k8s.io/v1", kind: "RoleBinding", fields: binding },
};
const DATA: Record<string, object> = {
  "kubernetes.io/basic-auth": { username: "" },
  "kubernetes.io/ssh-auth": { "ssh-privatekey": "YQ==" },
  "kubernetes.io/tls": { "tls.crt": "", "tls.key": "" },
  "kubernetes.io/dockerconfigjson": { ".dockerconfigjson": "e30=" },
};
const USERS_TYPES = ["Opaque", "kubernetes.io/basic-auth", "kubernetes.io/ssh-auth", "kubernetes.io/tls"];
const COPIES = ["Opaque", "kubernetes.io/dockerconfigjson"];
const TOKEN = "kubernetes.io/service-account-token";
const BOOTSTRAP = "bootstrap.kubernetes.io/token";

function secretBody(type: string): object {
  const annotations = { "kubernetes.io/service-account.name": "default" };
  return { type, data: DATA[type] ?? {}, ...(type === TOKEN && { metadata: { name: "sless", annotations } }) };
}

/** More than the chart gives its accounts: what is refused nevertheless, the guards refuse. */
const MORE_RIGHTS = [
  {
    apiGroups: ["", "apps", "batch", "networking.k8s.io", "rbac.authorization.k8s.io"],
    resources: Object.keys(KINDS),
    verbs: ["create", "patch", "delete"],
  },
  { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["bind"] },
];

function moreRights(accounts: readonly Account[]): object[] {
  const group = "rbac.authorization.k8s.io";
  const base = { apiVersion: `${group}/v1`, metadata: { name: "more" } };
  const subjects = accounts.map((name) => ({ kind: "ServiceAccount", name, namespace: "sless" }));
  const roleRef = { apiGroup: group, kind: "ClusterRole", name: "more" };
  return [
    { ...base, kind: "ClusterRole", rules: MORE_RIGHTS },
    { ...base, kind: "ClusterRoleBinding", roleRef, subjects },
  ];
}

type Cluster = () => TestCluster;

/** As sless does it, by server-side apply; nothing is kept. The status, and what is said. */
async function apply(cluster: Cluster, token: string, [plural, namespace, body = {}]: [string, string, object?]) {
  const { api, kind, fields } = KINDS[plural]!;
  const path = `/${api}/namespaces/${namespace}/${plural}/sless?fieldManager=test&force=true&dryRun=All`;
  const apiVersion = api.replace(/^apis?\//, "");
  const object = { apiVersion, kind, metadata: { name: "sless" }, ...fields, ...body };
  const { status, body: answer } = await cluster().request("PATCH", path, {
    token,
    body: object,
    contentType: "application/apply-patch+yaml",
  });
  return status < 300 ? "done" : `${status} ${answer.message}`;
}

async function applyNamespace(cluster: Cluster, token: string, name: string, labels: object) {
  const path = `/api/v1/namespaces/${name}?fieldManager=test&force=true&dryRun=All`;
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  const contentType = "application/apply-patch+yaml";
  const { status, body: answer } = await cluster().request("PATCH", path, { token, body, contentType });
  return status < 300 ? "done" : `${status} ${answer.message}`;
}

type Way = [method: "POST" | "PUT" | "PATCH", path: string, body: object, contentType?: string];

/** Than by server-side apply to the namespace itself. */
function byOtherWays(name: string, labels: object): Way[] {
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  const generated = { ...object, metadata: { generateName: "sless-fn-", labels } };
  const json = [{ op: "replace", path: "/metadata/labels", value: labels }];
  const merge = { metadata: { labels } };
  return [
    ["POST", "", generated],
    ["POST", "", { ...generated, metadata: { ...generated.metadata, name: "" } }],
    ["POST", "", { ...object, metadata: { name: "sless-fn-new", labels } }],
    ...["", "/status", "/finalize"].flatMap((subresource): Way[] => [["PUT", `/${name}${subresource}`, object]]),
    ...["", "/status"].flatMap((subresource): Way[] => [
      ["PATCH", `/${name}${subresource}`, merge, "application/merge-patch+json"],
      ["PATCH", `/${name}${subresource}`, merge, "application/strategic-merge-patch+json"],
      ["PATCH", `/${name}${subresource}`, json, "application/json-patch+json"],
      ["PATCH", `/${name}${subresource}`, object, "application/apply-patch+yaml"],
    ]),
  ];
}

const REFUSED_MAKER = /^403 .*namespace-maker needs the verb adopt on namespaces/;
const REFUSED = /^403 .*denied request: sless /;

describe.each(["roles", "all"])("in mode %s", (mode) => {
  describeOnOwnControlPlane("a token of sless", { controllers: false }, (cluster) => {
    const accountOf = (account: Account): Account => (mode === "all" ? "sless" : account);
    const tokenOf = (account: Account) =>
      cluster().tokenFor({ serviceAccount: accountOf(account), namespace: "sless" });
    let api: string;
    let controller: string;

    beforeAll(async () => {
      const objects = await renderChart({ mode, ...SHARED_CLAIM }, "sless");
      const namespaces = Object.entries({ ...NAMESPACES, sless: {} }).map(([name, labels]) => ({
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name, labels },
      }));
      const wanted = objects.filter(({ kind }) => [...RIGHTS, ...GUARDS].includes(kind!));
      const more = moreRights([...new Set([accountOf("sless-api"), accountOf("sless-controller")])]);
      const all = asList([...namespaces, ...wanted, ...more] as typeof namespaces);
      await kubectl(cluster().kubeconfig, ["apply", "--server-side", "-f", "-"], all);
      [api, controller] = await Promise.all([tokenOf("sless-api"), tokenOf("sless-controller")]);
      // The API server takes a moment until it heeds each of them.
      const probes: [string, [string, string, object?]][] = [
        [api, ["secrets", "kube-system"]],
        [controller, ["deployments", "kube-system"]],
        [controller, ["networkpolicies", "kube-system"]],
        [controller, ["rolebindings", "kube-system"]],
        [api, ["rolebindings", "kube-system"]],
      ];
      for (const [token, probe] of probes)
        await eventually(
          probe.join(),
          () => apply(cluster, token, probe),
          (said) => REFUSED.test(said),
        );
      const relabel = () => applyNamespace(cluster, controller, FOREIGN!, OURS);
      await eventually("namespaces", relabel, (said) => REFUSED.test(said));
    });

    const outcomes = async (token: string, calls: readonly [string, string, object?][]) =>
      Promise.all(calls.map((call) => apply(cluster, token, call)));
    const done = (calls: readonly unknown[]) => calls.map(() => "done");
    const refused = (calls: readonly unknown[]) => calls.map(() => expect.stringMatching(REFUSED));
    const secrets = (types: readonly string[], namespaces: readonly string[]) =>
      namespaces.flatMap((namespace) =>
        types.map((type): [string, string, object] => ["secrets", namespace, secretBody(type)]),
      );

    it("writes Secrets of people's types for users", async () => {
      const calls = secrets(USERS_TYPES, [USER!, FOREIGN!, "default"]);
      expect(await outcomes(api, calls)).toEqual(done(calls));
    });

    it("writes copies of Secrets where workloads run", async () => {
      const calls = secrets(COPIES, [DEPLOY!, BUILDS!]);
      expect(await outcomes(controller, calls)).toEqual(done(calls));
    });

    it("makes no other account's token, and no other type that is somebody's business, anywhere", async () => {
      const calls = secrets(
        [TOKEN, BOOTSTRAP, "helm.sh/release.v1"],
        [USER!, DEPLOY!, BUILDS!, "kube-system", "sless"],
      );
      for (const token of [api, controller]) expect(await outcomes(token, calls)).toEqual(refused(calls));
    });

    it("writes no Secret in namespaces of the cluster, of sless, or that are taken", async () => {
      const calls = secrets(["Opaque"], ["kube-system", "kube-public", "sless", "sless-fn-foreign", "sless-fn-taken"]);
      for (const token of [api, controller]) expect(await outcomes(token, calls)).toEqual(refused(calls));
    });

    it.runIf(mode === "roles")("writes Secrets on its own side only", async () => {
      const copies = secrets(["Opaque"], [DEPLOY!, BUILDS!]);
      expect(await outcomes(api, copies)).toEqual(refused(copies));
      const users = secrets(["Opaque"], [USER!, FOREIGN!, "default"]);
      expect(await outcomes(controller, users)).toEqual(refused(users));
    });

    it("deletes and changes no Secret that it could not have made", async () => {
      const path = "/api/v1/namespaces/team-a/secrets";
      const docker = { type: COPIES[1], data: DATA[COPIES[1]!], metadata: { name: "login" } };
      expect(await cluster().request("POST", path, { body: docker })).toMatchObject({ status: 201 });
      for (const token of [api, controller]) {
        const gone = await cluster().request("DELETE", `${path}/login`, { token });
        expect(`${gone.status} ${gone.body.message}`).toMatch(REFUSED);
        const contentType = "application/merge-patch+json";
        const patch = { metadata: { labels: { a: "b" } } };
        const changed = await cluster().request("PATCH", `${path}/login`, { token, body: patch, contentType });
        expect(`${changed.status} ${changed.body.message}`).toMatch(REFUSED);
      }
    });

    it("deletes a user's Secret, and what is left where labels were lost", async () => {
      for (const [token, namespace] of [
        [api, USER],
        [controller, DEPLOY],
        [controller, "sless-fn-foreign"],
      ]) {
        const path = `/api/v1/namespaces/${namespace}/secrets`;
        const body = { metadata: { name: "mine" }, type: "Opaque" };
        expect(await cluster().request("POST", path, { body })).toMatchObject({ status: 201 });
        expect(await cluster().request("DELETE", `${path}/mine`, { token: token! })).toMatchObject({ status: 200 });
      }
    });

    const each = (plurals: readonly string[], namespaces: readonly string[]) =>
      namespaces.flatMap((namespace) => plurals.map((plural): [string, string] => [plural, namespace]));

    it("runs workloads where they belong, and nowhere else", async () => {
      const kinds = ["deployments", "replicasets", "jobs", "services"];
      const calls = each(kinds, [DEPLOY!, BUILDS!]);
      expect(await outcomes(controller, calls)).toEqual(done(calls));
      const others = each(kinds, [...ELSEWHERE, USER!, "sless"]);
      expect(await outcomes(controller, others)).toEqual(refused(others));
    });

    it("writes policies where workloads run, quotas and rights in users' namespaces that it made", async () => {
      const policies = ["resourcequotas", "limitranges", "networkpolicies"];
      const calls = [...each(policies, [DEPLOY!, BUILDS!]), ...each(["resourcequotas", "rolebindings"], [USER!])];
      const others = [
        ...each(policies, [...ELSEWHERE, "sless"]),
        ...each(["limitranges", "networkpolicies"], [USER!]),
        ...each(["rolebindings"], [...ELSEWHERE, "sless", DEPLOY!, BUILDS!]),
      ];
      for (const token of [api, controller]) {
        expect(await outcomes(token, calls)).toEqual(done(calls));
        expect(await outcomes(token, others)).toEqual(refused(others));
      }
    });

    it("makes namespaces, and changes only those of workloads that it made, with their Pod Security", async () => {
      const workloads = NAMESPACES[DEPLOY!]!;
      const enforce = "pod-security.kubernetes.io/enforce";
      for (const token of [api, controller]) {
        const write = (name: string, labels: object) => applyNamespace(cluster, token, name, labels);
        expect(await write("team-b", OURS)).toBe("done");
        expect(await write("sless-fn-team-b", { ...workloads, "sless.kube5s.ru/tenant": "team-b" })).toBe("done");
        expect(await write(DEPLOY!, { ...workloads, more: "yes" })).toBe("done");
        expect(await write(BUILDS!, { ...OURS, [enforce]: "baseline" })).toBe("done");
        for (const name of [...ELSEWHERE.slice(0, 4), USER!, "sless", "kube-more"])
          expect([name, await write(name, { ...workloads })]).toEqual([name, expect.stringMatching(REFUSED)]);
        for (const [name, level] of [
          [DEPLOY, "privileged"],
          [DEPLOY, "baseline"],
          [BUILDS, "privileged"],
          ["sless-fn-team-b", "privileged"],
        ])
          expect(await write(name!, { ...OURS, [enforce]: level })).toMatch(REFUSED);
      }
    });

    it("is enough for namespaces of tenants and for their secrets", async () => {
      const clientOf = async (token: string) =>
        clusterClient(cluster(), { from: { file: await cluster().kubeconfigFor(token) } });
      const settings = { ownNamespace: "sless", quota: { pods: "9" }, limits: [], objects: { "count/secrets": "9" } };
      const subject = { kind: "User", name: "ada" } as const;
      for (const token of [api, controller]) {
        const tenancy = createTenancy({ client: await clientOf(token), settings });
        const namespace = freshName();
        expect(await tenancy.ensure(namespace, subject)).toBe("created");
        expect(await tenancy.ensure(namespace, subject)).toBe("exists");
        const secrets = kubernetesSecrets({ client: await clientOf(api) });
        const secret = { namespace, name: "mine" };
        expect(await secrets.write(secret, new Map([["A", "1"]]), { replace: false })).toMatchObject({ created: true });
        expect(await secrets.write(secret, new Map([["A", "2"]]), { replace: true })).toMatchObject({ created: false });
        await secrets.delete(secret);
        expect(await secrets.get(secret)).toBeUndefined();
      }
    });

    it("is the only one that is looked at", async () => {
      const path = "/api/v1/namespaces/kube-system/secrets?dryRun=All";
      const body = { metadata: { name: "anybodys" }, type: "helm.sh/release.v1" };
      expect(await cluster().request("POST", path, { body })).toMatchObject({ status: 201 });
    });

    it("is not needed to be kept from a deploy namespace that is made or labelled beforehand", async () => {
      const resources = ["namespaces", "namespaces/status", "namespaces/finalize"];
      const rule = (verbs: string[]) => ({ apiGroups: [""], resources, verbs });
      const rights = {
        "namespace-maker": rule(["create", "update", "patch", "get", "delete"]),
        "namespace-admin": rule(["*"]),
      };
      for (const [name, allowed] of Object.entries(rights)) {
        const role = { metadata: { name }, rules: [allowed] };
        const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
        const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }];
        const path = "/apis/rbac.authorization.k8s.io/v1";
        await cluster().request("POST", `${path}/clusterroles`, { body: role });
        await cluster().request("POST", `${path}/clusterrolebindings`, {
          body: { metadata: { name }, roleRef, subjects },
        });
      }
      const [maker, admin] = await Promise.all(Object.keys(rights).map((user) => cluster().tokenFor({ user })));
      const write = (token: string, name: string, labels: object) => applyNamespace(cluster, token, name, labels);
      await eventually(
        "they may",
        () => write(maker!, "mine", OURS),
        (said) => said === "done",
      );
      const stolen = { ...NAMESPACES[DEPLOY!]!, "sless.kube5s.ru/tenant": "victim" };
      await eventually(
        "it is heeded",
        () => write(maker!, "sless-fn-victim", stolen),
        (said) => REFUSED_MAKER.test(said),
      );
      const attempts: [string, object][] = [
        ["sless-fn-victim", {}],
        ["sless-fn-foreign", { ...stolen, "sless.kube5s.ru/tenant": "foreign" }],
        [DEPLOY!, { ...NAMESPACES[DEPLOY!], "pod-security.kubernetes.io/enforce": "privileged" }],
        [BUILDS!, { ...NAMESPACES[BUILDS!], "pod-security.kubernetes.io/enforce": "privileged" }],
      ];
      for (const [name, labels] of attempts) {
        expect([name, await write(maker!, name, labels)]).toEqual([name, expect.stringMatching(REFUSED_MAKER)]);
        expect([name, await write(admin!, name, labels)]).toEqual([name, "done"]);
      }
      expect(await write(maker!, DEPLOY!, { team: "blue" })).toBe("done");
      expect(await write(maker!, BUILDS!, { team: "blue" })).toBe("done");
      expect(await write(maker!, "sless-fnord", OURS)).toBe("done");
      for (const way of byOtherWays(DEPLOY!, stolen)) {
        const [method, path, body, contentType] = way;
        const said = async (token: string) => {
          const query = `?dryRun=All&fieldManager=test${contentType?.includes("apply") ? "&force=true" : ""}`;
          const answer = await cluster().request(method, `/api/v1/namespaces${path}${query}`, {
            token,
            body,
            ...(contentType && { contentType }),
          });
          return answer.status < 300 ? "done" : `${answer.status} ${answer.body.message}`;
        };
        expect([method, path, await said(maker!)]).toEqual([method, path, expect.stringMatching(REFUSED_MAKER)]);
        expect([method, path, await said(admin!)]).toEqual([method, path, "done"]);
      }
    });
  });
});
