import { GROUP, VERSION } from "../../src/apis/index.ts";
import { API_RESOURCES, type ApiObject, apiPath, PATCH_TYPES } from "../../src/kubernetes/index.ts";
import { asList, kubectl } from "../support/kubectl.ts";
import type { InstalledSless } from "./installed-sless.ts";
import type { E2eCluster } from "./open-cluster.ts";

/** A service account that may do in the namespace what a tenant may, and its token. */
export async function addEditor(cluster: E2eCluster, namespace: string): Promise<string> {
  const metadata = { name: "editor", namespace };
  await cluster.apply("ServiceAccount", { metadata });
  await cluster.apply("RoleBinding", {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "sless-tenant-editor" },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  });
  const command = ["create", "token", "editor", "--namespace", namespace, "--duration", "1h"];
  return (await kubectl(cluster.settings.kubeconfig, command)).trim();
}

/** A service account that may collect garbage of the whole cluster, and its token. */
export async function addCollector(cluster: E2eCluster, namespace: string): Promise<string> {
  const { kubeconfig } = cluster.settings;
  const name = `sless-e2e-collector-${namespace}`;
  const metadata = { name: "collector", namespace };
  await cluster.apply("ServiceAccount", { metadata });
  const group = "rbac.authorization.k8s.io";
  const role = { kind: "ClusterRole", rules: [{ nonResourceURLs: ["/v1/gc"], verbs: ["post"] }] };
  const binding = {
    kind: "ClusterRoleBinding",
    roleRef: { apiGroup: group, kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  };
  const items = [role, binding].map((each) => ({ apiVersion: `${group}/v1`, metadata: { name }, ...each }));
  await kubectl(kubeconfig, ["apply", "-f", "-"], asList(items));
  return (await kubectl(kubeconfig, ["create", "token", "collector", "--namespace", namespace])).trim();
}

export interface TestRepository {
  readonly name: string;
  /** Default: all of it. */
  readonly path?: string;
  readonly webhookToken?: string;
}

/** A Repository of the git server's main branch, which is looked at when somebody says so. */
export async function applyRepository(
  { cluster, git }: InstalledSless,
  namespace: string,
  { name, path, webhookToken }: TestRepository,
): Promise<void> {
  const secret = { name: `${name}-webhook`, namespace };
  if (webhookToken) await cluster.apply("Secret", { metadata: secret, stringData: { token: webhookToken } });
  const repository = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: "Repository",
    metadata: { name, namespace },
    spec: {
      url: git.url,
      ref: { branch: "main" },
      interval: "1h",
      ...(path && { path }),
      ...(webhookToken && { webhookSecretRef: { name: secret.name } }),
    },
  };
  await kubectl(cluster.settings.kubeconfig, ["apply", "-f", "-"], JSON.stringify(repository));
}

const KINDS = ["repositories", "triggers", "functions", "functionjobs"];

/** Deletes all of a tenant's, where no controller is left that would take finalizers off. Waits for nothing. */
export async function removeTenant(
  { client, get }: E2eCluster,
  namespace: string,
  resources: (namespace: string, plural: string) => string,
): Promise<void> {
  for (const plural of KINDS) {
    const { items = [] } = (await get<ApiObject & { items?: ApiObject[] }>(resources(namespace, plural))) ?? {};
    const path = (name: string) => `${resources(namespace, plural)}/${name}`;
    const body = { metadata: { finalizers: null } };
    for (const { metadata } of items)
      await client.request({ method: "PATCH", path: path(metadata.name), body, contentType: PATCH_TYPES.merge });
  }
  const collector = `/apis/rbac.authorization.k8s.io/v1/%/sless-e2e-collector-${namespace}`;
  const paths = [
    ...[namespace, `sless-fn-${namespace}`].map((name) => apiPath(API_RESOURCES.Namespace, { name })),
    ...["clusterroles", "clusterrolebindings"].map((plural) => collector.replace("%", plural)),
  ];
  for (const path of paths) if (await get(path)) await client.request({ method: "DELETE", path });
}
