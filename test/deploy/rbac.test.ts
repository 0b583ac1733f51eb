// Renders with "helm", applies with "kubectl".
import { beforeAll, expect, it } from "vitest";
import type { ApiObject } from "../../src/kubernetes/index.ts";
import { renderChart } from "../support/helm.ts";
import { asList, kubectl } from "../support/kubectl.ts";
import { describeOnOwnControlPlane, type TestCluster } from "../support/kubernetes/index.ts";
import { SHARED_CLAIM } from "./value-sets.ts";

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

const OWN = "sless";
const TENANT = "team-a";
const DEPLOY = "sless-fn-team-a";
const KINDS = ["functions", "services", "triggers", "functionjobs", "repositories"].map(
  (name) => `${name}.sless.kube5s.ru`,
);
const each = (verbs: readonly string[], resources: readonly string[], namespace: string) =>
  verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource} in ${namespace}`));
const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";
const READ = ["get", "list", "watch"];
const WRITE = ["create", "patch", "delete"];
const POLICIES = ["networkpolicies.networking.k8s.io", "resourcequotas", "limitranges"];
const BINDINGS = "rolebindings.rbac.authorization.k8s.io";
const named = (resources: readonly string[], name: string) => resources.map((resource) => `${resource}:${name}`);
const NOBODY = [
  "delete namespaces",
  "deletecollection namespaces",
  "impersonate users",
  "escalate clusterroles.rbac.authorization.k8s.io",
  "bind clusterroles.rbac.authorization.k8s.io:cluster-admin",
  "create clusterrolebindings.rbac.authorization.k8s.io",
  "patch clusterroles.rbac.authorization.k8s.io",
  "patch customresourcedefinitions.apiextensions.k8s.io",
  "get nodes",
  ...each(WRITE, [...POLICIES, BINDINGS], TENANT),
  ...each(WRITE, named([...POLICIES, BINDINGS], "another"), TENANT),
  ...each(["list", "watch"], [BINDINGS], TENANT),
  `create pods in ${DEPLOY}`,
  `create pods/exec in ${DEPLOY}`,
  `create serviceaccounts/token in ${OWN}`,
];

/** Actions as `verb resource[.group][/subresource or :name] [in namespace]`. */
const ACCOUNTS: Record<string, { readonly may: readonly string[]; readonly mayNot: readonly string[] }> = {
  "sless-controller": {
    may: [
      ...each([...READ, ...WRITE], KINDS, TENANT),
      ...each(
        ["patch"],
        KINDS.map((kind) => `${kind}/status`),
        TENANT,
      ),
      ...each([...READ, ...WRITE], ["deployments.apps", "jobs.batch", "services", "secrets"], DEPLOY),
      ...each(["list", "watch"], POLICIES, DEPLOY),
      ...each(["get", ...WRITE], named(POLICIES, "sless"), DEPLOY),
      ...each(["get", ...WRITE], named(POLICIES.slice(0, 2), "sless-builds"), "sless-builds"),
      ...each(["list", "watch"], ["pods", "endpointslices.discovery.k8s.io"], DEPLOY),
      ...each([...READ, ...WRITE], ["ingresses.networking.k8s.io"], OWN),
      `get pods/log in ${DEPLOY}`,
      `get secrets in ${TENANT}`,
      `create events in ${TENANT}`,
      "create namespaces",
      "patch namespaces",
      "watch namespaces",
      `create leases.coordination.k8s.io in ${OWN}`,
      `patch leases.coordination.k8s.io:sless-controller in ${OWN}`,
      ...KINDS.map((kind) => `list ${DEFINITIONS}:${kind}`),
      ...each(WRITE, named([BINDINGS], "sless"), TENANT),
      "bind clusterroles.rbac.authorization.k8s.io:sless-tenant-editor",
      "create tokenreviews.authentication.k8s.io",
      "create subjectaccessreviews.authorization.k8s.io",
    ],
    mayNot: [
      `patch leases.coordination.k8s.io:another in ${OWN}`,
      `list ${DEFINITIONS}`,
      `create leases.coordination.k8s.io in ${TENANT}`,
      `create ingresses.networking.k8s.io in ${DEPLOY}`,
      `delete pods in ${DEPLOY}`,
      `update deployments.apps in ${DEPLOY}`,
    ],
  },
  "sless-api": {
    may: [
      ...each([...READ, ...WRITE], KINDS, TENANT),
      ...each([...READ, ...WRITE], ["secrets"], TENANT),
      "create tokenreviews.authentication.k8s.io",
      "create subjectaccessreviews.authorization.k8s.io",
      "create namespaces",
      `list pods in ${DEPLOY}`,
      `get pods/log in ${DEPLOY}`,
      `list events in ${TENANT}`,
      `get leases.coordination.k8s.io:sless-controller in ${OWN}`,
      `get pods in ${OWN}`,
      ...each(WRITE, named(POLICIES, "sless"), DEPLOY),
      ...each(WRITE, named([BINDINGS], "sless"), TENANT),
      "bind clusterroles.rbac.authorization.k8s.io:sless-tenant-editor",
    ],
    mayNot: [
      ...each(
        ["patch"],
        KINDS.map((kind) => `${kind}/status`),
        TENANT,
      ),
      ...each(WRITE, ["deployments.apps", "jobs.batch", "services"], DEPLOY),
      ...each(WRITE, ["leases.coordination.k8s.io:sless-controller"], OWN),
      `get leases.coordination.k8s.io in ${OWN}`,
      `get leases.coordination.k8s.io:sless-controller in ${TENANT}`,
      `create leases.coordination.k8s.io in ${OWN}`,
      `create ingresses.networking.k8s.io in ${OWN}`,
      ...each(READ, ["deployments.apps", "configmaps"], DEPLOY),
    ],
  },
  "sless-gateway": {
    may: [
      ...each(READ, KINDS.slice(0, 3), TENANT),
      ...each(READ, ["endpointslices.discovery.k8s.io"], DEPLOY),
      ...KINDS.slice(0, 3).map((kind) => `list ${DEFINITIONS}:${kind}`),
      "create tokenreviews.authentication.k8s.io",
      "create subjectaccessreviews.authorization.k8s.io",
    ],
    mayNot: [
      ...each(WRITE, KINDS, TENANT),
      ...each(["get", "list"], ["repositories.sless.kube5s.ru", "functionjobs.sless.kube5s.ru"], TENANT),
      ...each([...READ, ...WRITE], ["secrets"], TENANT),
      ...each([...READ, ...WRITE], ["secrets"], OWN),
      ...each(READ, ["pods", "configmaps", "deployments.apps"], DEPLOY),
      "list namespaces",
      `list ${DEFINITIONS}`,
      "create namespaces",
    ],
  },
};

const byKind = (objects: readonly ApiObject[], ...kinds: string[]) =>
  objects.filter(({ kind }) => kinds.includes(kind!));

describeOnOwnControlPlane("the rights of the chart", { controllers: false }, (cluster) => {
  let objects: ApiObject[];
  beforeAll(async () => {
    objects = await renderChart({ mode: "roles", ...SHARED_CLAIM }, OWN);
    for (const name of [OWN, TENANT, DEPLOY]) await kubectl(cluster().kubeconfig, ["create", "namespace", name]);
    const rights = byKind(objects, "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding");
    await kubectl(cluster().kubeconfig, ["apply", "--server-side", "-f", "-"], asList(rights));
  });

  const answers = async (token: string, actions: readonly string[]) =>
    Object.fromEntries(
      await Promise.all(actions.map(async (action) => [action, await isAllowed(cluster(), token, action)] as const)),
    );
  const all = (actions: readonly string[], allowed: boolean) =>
    Object.fromEntries(actions.map((action) => [action, allowed]));

  it.each(Object.entries(ACCOUNTS))("let %s do what it does", async (serviceAccount, { may }) => {
    const token = await cluster().tokenFor({ serviceAccount, namespace: OWN });
    expect(await answers(token, may)).toEqual(all(may, true));
  });

  it.each(Object.entries(ACCOUNTS))("let %s do nothing else", async (serviceAccount, { mayNot }) => {
    const token = await cluster().tokenFor({ serviceAccount, namespace: OWN });
    const actions = [...mayNot, ...NOBODY];
    expect(await answers(token, actions)).toEqual(all(actions, false));
  });

  it("let the gateway see whether a kind that it follows is being removed, by a list of that name", async () => {
    const token = await cluster().tokenFor({ serviceAccount: "sless-gateway", namespace: OWN });
    const statusOf = async (query: string) =>
      (await cluster().request("GET", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions${query}`, { token }))
        .status;
    expect(await statusOf("?fieldSelector=metadata.name%3Dfunctions.sless.kube5s.ru")).toBe(200);
    expect(await statusOf("?fieldSelector=metadata.name%3Drepositories.sless.kube5s.ru")).toBe(403);
    expect(await statusOf("")).toBe(403);
  });

  it("name every group, resource and verb: no wildcard, no deletion of namespaces", () => {
    const rules = byKind(objects, "ClusterRole", "Role").flatMap(
      (role) => (role as ApiObject & { rules: Rule[] }).rules,
    );
    expect(rules.filter((rule) => JSON.stringify(rule).includes("*"))).toEqual([]);
    const onNamespaces = rules.filter(({ resources }) => resources?.includes("namespaces"));
    expect(onNamespaces.flatMap(({ verbs }) => verbs).filter((verb) => verb.startsWith("delete"))).toEqual([]);
  });

  it("are the same in one process as in three", async () => {
    const rights = (rendered: readonly ApiObject[]) =>
      byKind(rendered, "ClusterRole", "Role").map((role) => [
        role.metadata.name,
        (role as ApiObject & { rules: Rule[] }).rules,
      ]);
    const bound = (rendered: readonly ApiObject[]) =>
      new Set(
        byKind(rendered, "ClusterRoleBinding", "RoleBinding").map(
          (binding) => (binding as ApiObject & { roleRef: { name: string } }).roleRef.name,
        ),
      );
    const one = await renderChart({}, OWN);
    expect(rights(one)).toEqual(rights(objects));
    expect(bound(one)).toEqual(bound(objects));
  });

  const USERS: Record<string, { readonly may: readonly string[]; readonly mayNot: readonly string[] }> = {
    "sless-viewer": {
      may: [...each(READ, KINDS, TENANT), `get functions.sless.kube5s.ru/log in ${TENANT}`],
      mayNot: [
        ...each(["create", "patch", "delete"], KINDS, TENANT),
        ...each(["create", "update"], ["functions.sless.kube5s.ru/upload", "functions.sless.kube5s.ru/invoke"], TENANT),
        `get functions.sless.kube5s.ru/source in ${TENANT}`,
        `get secrets in ${TENANT}`,
      ],
    },
    "sless-editor": {
      may: [
        ...each([...READ, ...WRITE], KINDS, TENANT),
        `patch functions.sless.kube5s.ru/scale in ${TENANT}`,
        `get services.sless.kube5s.ru/source in ${TENANT}`,
        `create functionjobs.sless.kube5s.ru/upload in ${TENANT}`,
        `create functions.sless.kube5s.ru/invoke in ${TENANT}`,
      ],
      mayNot: [`patch functions.sless.kube5s.ru/status in ${TENANT}`, `get secrets in ${TENANT}`, "create namespaces"],
    },
    "sless-tenant-editor": {
      may: [
        ...each([...READ, ...WRITE], [...KINDS, "secrets"], TENANT),
        `create functions.sless.kube5s.ru/invoke in ${TENANT}`,
        `list events in ${TENANT}`,
      ],
      mayNot: [
        `patch functions.sless.kube5s.ru/status in ${TENANT}`,
        `get functions.sless.kube5s.ru in ${OWN}`,
        `get secrets in ${DEPLOY}`,
        `create pods in ${TENANT}`,
        `create deployments.apps in ${TENANT}`,
        ...each(["create"], [BINDINGS, ...named([BINDINGS], "sless")], TENANT),
        "create namespaces",
      ],
    },
  };

  it.each(Object.entries(USERS))("give users %s", async (role, { may, mayNot }) => {
    const user = `${role}-user`;
    const binding = ["create", "rolebinding", user, `--clusterrole=${role}`, `--user=${user}`, "-n", TENANT];
    await kubectl(cluster().kubeconfig, binding);
    const token = await cluster().tokenFor({ user });
    expect(await answers(token, may)).toEqual(all(may, true));
    expect(await answers(token, [...mayNot, ...NOBODY])).toEqual(all([...mayNot, ...NOBODY], false));
  });

  it("let the controller bind tenants to their own role and to no other, by one binding", async () => {
    const token = await cluster().tokenFor({ serviceAccount: "sless-controller", namespace: OWN });
    const bind = async (role: string, name = "sless") => {
      const body = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ada" }],
      };
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${TENANT}/rolebindings/${name}?fieldManager=test`;
      const contentType = "application/apply-patch+yaml";
      return (await cluster().request("PATCH", path, { token, body, contentType })).status;
    };
    expect(await bind("system:node")).toBe(403);
    expect(await bind("cluster-admin")).toBe(403);
    expect(await bind("sless-tenant-editor", "another")).toBe(403);
    expect(await bind("sless-tenant-editor")).toBe(201);
  });
});

/** What the API server answers the token's own question. */
async function isAllowed(cluster: TestCluster, token: string, action: string): Promise<boolean> {
  const [, verb, resource, group = "", subresource = "", name = "", namespace = ""] =
    /^(\S+) ([a-z]+)(?:\.([a-z0-9.]+))?(?:\/([a-z]+))?(?::([a-z0-9.-]+))?(?: in (\S+))?$/.exec(action) ?? [];
  if (!verb) throw new Error(`not understood: ${action}`);
  const body = { spec: { resourceAttributes: { verb, resource, group, subresource, name, namespace } } };
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const answer = await cluster.request("POST", path, { token, body });
  if (answer.status !== 201) throw new Error(`${action}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.status.allowed;
}
