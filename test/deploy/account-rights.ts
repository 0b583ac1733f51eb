const KINDS = ["functions", "services", "triggers", "functionjobs", "repositories"];
const ours = (verbs: string, { kinds = KINDS, subresource = "" } = {}) =>
  Object.fromEntries(kinds.map((kind) => [`${kind}.sless.kube5s.ru${subresource}`, verbs]));
const definitions = (kinds: readonly string[]) =>
  Object.fromEntries(
    kinds.map((kind) => [`customresourcedefinitions.apiextensions.k8s.io:${kind}.sless.kube5s.ru`, "list"]),
  );
const REVIEWS = {
  "tokenreviews.authentication.k8s.io": "create",
  "subjectaccessreviews.authorization.k8s.io": "create",
};
const CALLED = KINDS.slice(0, 3);

/**
 * All that the accounts of sless may do, in every namespace but where "in" names one: verbs by
 * `resource[.group][/subresource][:name]`. Each is there because a request of `src/` needs it.
 */
export const ACCOUNT_RIGHTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "sless-controller": {
    ...REVIEWS,
    ...ours("create delete get list patch watch"),
    ...ours("update", { subresource: "/status" }),
    ...definitions(KINDS),
    "deployments.apps": "create delete get list patch watch",
    "replicasets.apps": "delete list watch",
    "jobs.batch": "create delete get list watch",
    services: "create delete get list patch watch",
    "services:kubernetes": "get",
    pods: "list watch",
    "pods/log": "get",
    "endpointslices.discovery.k8s.io": "list watch",
    secrets: "create delete get list patch watch",
    events: "create get list patch",
    namespaces: "create get list patch watch",
    resourcequotas: "list watch",
    limitranges: "list watch",
    "networkpolicies.networking.k8s.io": "list watch",
    "resourcequotas:sless": "create delete patch",
    "limitranges:sless": "create delete patch",
    "networkpolicies.networking.k8s.io:sless": "create delete patch",
    "resourcequotas:sless-builds": "create get patch",
    "networkpolicies.networking.k8s.io:sless-builds": "create get patch",
    "leases.coordination.k8s.io in sless": "create",
    "leases.coordination.k8s.io:sless-controller in sless": "get patch",
    "ingresses.networking.k8s.io in sless": "create delete list patch watch",
  },
  "sless-api": {
    ...REVIEWS,
    ...ours("create delete get list patch watch"),
    secrets: "create delete get list update",
    pods: "get list watch",
    "pods/log": "get",
    events: "create get list patch",
    namespaces: "create get patch",
    "resourcequotas:sless": "create patch",
    "limitranges:sless": "create patch",
    "networkpolicies.networking.k8s.io:sless": "create patch",
    "rolebindings.rbac.authorization.k8s.io:sless": "create delete patch",
    "clusterroles.rbac.authorization.k8s.io:sless-tenant-editor": "bind",
    "services:kubernetes": "get",
    "endpointslices.discovery.k8s.io": "list",
    "leases.coordination.k8s.io:sless-controller in sless": "get",
  },
  "sless-gateway": {
    ...REVIEWS,
    ...ours("list watch", { kinds: CALLED }),
    ...definitions(CALLED),
    "endpointslices.discovery.k8s.io": "list watch",
  },
};
