// Renders with "helm", applies with "kubectl".
import { beforeAll, expect, it } from "vitest";
import type { ApiObject } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import { renderChart } from "../support/helm.ts";
import { asList, kubectl } from "../support/kubectl.ts";
import { describeOnOwnControlPlane, type TestCluster } from "../support/kubernetes/index.ts";
import { ACCOUNT_RIGHTS } from "./account-rights.ts";
import { SHARED_CLAIM } from "./value-sets.ts";

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Binding extends ApiObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly name: string }[];
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
        ["update"],
        KINDS.map((kind) => `${kind}/status`),
        TENANT,
      ),
      ...each([...READ, ...WRITE], ["deployments.apps", "services", "secrets"], DEPLOY),
      ...each([...READ, "create", "delete"], ["jobs.batch"], DEPLOY),
      ...each(["list", "watch"], POLICIES, DEPLOY),
      ...each(WRITE, named(POLICIES, "sless"), DEPLOY),
      ...each(["get", "create", "patch"], named(POLICIES.slice(0, 2), "sless-builds"), "sless-builds"),
      ...each(["list", "watch"], ["pods", "endpointslices.discovery.k8s.io"], DEPLOY),
      ...each(["list", "watch", ...WRITE], ["ingresses.networking.k8s.io"], OWN),
      `get pods/log in ${DEPLOY}`,
      `get secrets in ${TENANT}`,
      `create events in ${TENANT}`,
      "create namespaces",
      "patch namespaces",
      "watch namespaces",
      `create leases.coordination.k8s.io in ${OWN}`,
      `patch leases.coordination.k8s.io:sless-controller in ${OWN}`,
      ...KINDS.map((kind) => `list ${DEFINITIONS}:${kind}`),
      "create tokenreviews.authentication.k8s.io",
      "create subjectaccessreviews.authorization.k8s.io",
    ],
    mayNot: [
      ...each(WRITE, named([BINDINGS], "sless"), TENANT),
      "bind clusterroles.rbac.authorization.k8s.io:sless-tenant-editor",
      ...each(["update"], KINDS, TENANT),
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
      ...each(["get", "list", "create", "update", "delete"], ["secrets"], TENANT),
      "create tokenreviews.authentication.k8s.io",
      "create subjectaccessreviews.authorization.k8s.io",
      "create namespaces",
      `list pods in ${DEPLOY}`,
      `get pods/log in ${DEPLOY}`,
      `list events in ${TENANT}`,
      `get leases.coordination.k8s.io:sless-controller in ${OWN}`,
      `get pods in ${OWN}`,
      ...each(["create", "patch"], named(POLICIES, "sless"), DEPLOY),
      ...each(WRITE, named([BINDINGS], "sless"), TENANT),
      "bind clusterroles.rbac.authorization.k8s.io:sless-tenant-editor",
    ],
    mayNot: [
      ...each(
        ["patch", "update"],
        KINDS.map((kind) => `${kind}/status`),
        TENANT,
      ),
      ...each(["delete"], named(POLICIES, "sless"), DEPLOY),
      "watch secrets",
      "list namespaces",
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
      ...each(["list", "watch"], KINDS.slice(0, 3), TENANT),
      ...each(["list", "watch"], ["endpointslices.discovery.k8s.io"], DEPLOY),
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

  /** The API server heeds what was written a moment later. */
  const untilAllowed = (token: string, actions: readonly string[]) =>
    eventually(
      "all is allowed",
      () => answers(token, actions),
      (seen) => JSON.stringify(seen) === JSON.stringify(all(actions, true)),
    );

  it.each(Object.keys(ACCOUNT_RIGHTS))("are for %s what its requests need, and nothing beyond", (account) => {
    expect(rightsOf(account, objects)).toEqual(ACCOUNT_RIGHTS[account]);
  });

  it.each(Object.entries(ACCOUNTS))("let %s do what it does", async (serviceAccount, { may }) => {
    await untilAllowed(await cluster().tokenFor({ serviceAccount, namespace: OWN }), may);
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
    await untilAllowed(token, may);
    expect(await answers(token, [...mayNot, ...NOBODY])).toEqual(all([...mayNot, ...NOBODY], false));
  });

  it("let the api bind tenants to their own role and to no other, by one binding", async () => {
    const token = await cluster().tokenFor({ serviceAccount: "sless-api", namespace: OWN });
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

/** As in `ACCOUNT_RIGHTS`, all that the chart binds to an account. */
function rightsOf(account: string, objects: readonly ApiObject[]): Record<string, string> {
  const rights = new Map<string, Set<string>>();
  const isIts = (binding: Binding) => binding.subjects.some(({ name }) => name === account);
  const bindings = (byKind(objects, "ClusterRoleBinding", "RoleBinding") as Binding[]).filter(isIts);
  for (const { kind, roleRef, metadata } of bindings) {
    const role = byKind(objects, roleRef.kind).find(({ metadata: { name } }) => name === roleRef.name);
    const place = kind === "RoleBinding" ? ` in ${metadata.namespace}` : "";
    for (const rule of (role as ApiObject & { rules: Rule[] }).rules)
      for (const thing of thingsOf(rule)) {
        const verbs = rights.get(thing + place) ?? new Set();
        for (const verb of rule.verbs) verbs.add(verb);
        rights.set(thing + place, verbs);
      }
  }
  return Object.fromEntries([...rights].map(([thing, verbs]) => [thing, [...verbs].sort().join(" ")]));
}

function thingsOf({ apiGroups = [], resources = [], resourceNames = [""] }: Rule): string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((path) => {
      const [resource, subresource] = path.split("/");
      const thing = [resource, group].filter(Boolean).join(".") + (subresource ? `/${subresource}` : "");
      return resourceNames.map((name) => (name ? `${thing}:${name}` : thing));
    }),
  );
}

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
