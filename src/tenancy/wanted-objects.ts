import { CHILD_LABELS, deployNamespaceOf, MANAGED_BY, TENANT_LABEL } from "../apis/index.ts";
import { API_RESOURCES, type ApiObject, type ApiResource, apiVersionOf } from "../kubernetes/index.ts";
import type { ApiServerAddress } from "./api-server-addresses.ts";
import { dnsRules } from "./dns-rules.ts";
import { egressRules } from "./egress-rules.ts";
import type { TenancySettings, TenantSubject } from "./tenancy-settings.ts";

/** What an object of ours should be; everything that it names is ours to correct. */
export interface Wanted {
  readonly resource: ApiResource;
  readonly object: ApiObject & { readonly [field: string]: unknown };
}

/** Of a user's namespace that sless made: for whom, as a subject of a RoleBinding in JSON. */
export const SUBJECT_ANNOTATION = "sless.kube5s.ru/subject";
/** Name of the objects that stand in a namespace once. */
export const OBJECT_NAME = "sless";
const EDITOR_ROLE = "sless-tenant-editor";
/** Where functions listen. */
const FUNCTION_PORT = 8080;

/** Pure. The namespace in which workloads of `namespace` run. */
export function deployNamespace(namespace: string): Wanted {
  const labels = {
    ...tenantLabels(namespace),
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/enforce-version": "latest",
    "pod-security.kubernetes.io/warn": "restricted",
  };
  return wanted("Namespace", { name: deployNamespaceOf(namespace), labels });
}

/** Pure. A user's namespace that sless makes. */
export function userNamespace(namespace: string, subject: TenantSubject | undefined): Wanted {
  const annotations = subject && { [SUBJECT_ANNOTATION]: JSON.stringify(subject) };
  const labels = { [CHILD_LABELS.managedBy]: MANAGED_BY };
  return wanted("Namespace", { name: namespace, labels, ...(annotations && { annotations }) });
}

/**
 * What must stand in a deploy namespace before anything runs there. Pure.
 *
 * @param apiServer which functions do not reach
 */
export function policiesOf(
  namespace: string,
  settings: TenancySettings,
  apiServer: readonly ApiServerAddress[],
): Wanted[] {
  const metadata = { name: OBJECT_NAME, namespace: deployNamespaceOf(namespace), labels: tenantLabels(namespace) };
  const { quota, limits } = settings;
  return [
    wanted("NetworkPolicy", metadata, { spec: networkPolicy(settings, apiServer) }),
    ...(quota ? [wanted("ResourceQuota", metadata, { spec: { hard: quota } })] : []),
    ...(limits ? [wanted("LimitRange", metadata, { spec: { limits } })] : []),
  ];
}

/** Pure. How much may be written in a user's namespace that sless made; undefined where the settings bound nothing. */
export function objectsQuota(namespace: string, { objects }: TenancySettings): Wanted | undefined {
  if (!objects) return undefined;
  return wanted(
    "ResourceQuota",
    { name: OBJECT_NAME, namespace, labels: tenantLabels(namespace) },
    { spec: { hard: objects } },
  );
}

/** Pure. What the user may in the namespace that was made for it. */
export function editorBinding(namespace: string, subject: TenantSubject, settings: TenancySettings): Wanted {
  const apiGroup = "rbac.authorization.k8s.io";
  const labels = { [CHILD_LABELS.managedBy]: MANAGED_BY };
  return wanted(
    "RoleBinding",
    { name: OBJECT_NAME, namespace, labels },
    {
      roleRef: { apiGroup, kind: "ClusterRole", name: settings.editorRole ?? EDITOR_ROLE },
      subjects: [subject.kind === "ServiceAccount" ? subject : { apiGroup, ...subject }],
    },
  );
}

function wanted(kind: keyof typeof API_RESOURCES, metadata: ApiObject["metadata"], rest: object = {}): Wanted {
  const resource = API_RESOURCES[kind];
  return { resource, object: { apiVersion: apiVersionOf(resource), kind, metadata, ...rest } };
}

function tenantLabels(namespace: string): Record<string, string> {
  return { [CHILD_LABELS.managedBy]: MANAGED_BY, [TENANT_LABEL]: namespace };
}

/** Only the gateway comes in; out go questions to the cluster's DNS, and what the internet is. */
function networkPolicy(settings: TenancySettings, apiServer: readonly ApiServerAddress[]): object {
  const { ownNamespace, egressDenied = [], egressAllowed = [] } = settings;
  const namespaced = (name: string) => ({ matchLabels: { "kubernetes.io/metadata.name": name } });
  const gateway = { "app.kubernetes.io/name": "sless", "app.kubernetes.io/component": "gateway" };
  return {
    podSelector: {},
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      {
        from: [{ namespaceSelector: namespaced(ownNamespace), podSelector: { matchLabels: gateway } }],
        ports: [{ port: FUNCTION_PORT, protocol: "TCP" }],
      },
    ],
    egress: [...dnsRules(settings.dns), ...egressRules({ denied: egressDenied, allowed: egressAllowed, apiServer })],
  };
}
