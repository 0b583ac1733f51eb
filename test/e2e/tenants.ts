import { API_RESOURCES, type ApiObject, apiPath, PATCH_TYPES } from "../../src/kubernetes/index.ts";
import { kubectl } from "../support/kubectl.ts";
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

const KINDS = ["repositories", "triggers", "functions"];

/** Deletes all of a tenant's, where no controller is left that would take finalizers off. Waits for nothing. */
export async function removeTenant(
  { client, get }: E2eCluster,
  namespace: string,
  resources: (plural: string) => string,
): Promise<void> {
  for (const plural of KINDS) {
    const { items = [] } = (await get<ApiObject & { items?: ApiObject[] }>(resources(plural))) ?? {};
    const path = (name: string) => `${resources(plural)}/${name}`;
    const body = { metadata: { finalizers: null } };
    for (const { metadata } of items)
      await client.request({ method: "PATCH", path: path(metadata.name), body, contentType: PATCH_TYPES.merge });
  }
  for (const name of [namespace, `sless-fn-${namespace}`]) {
    const path = apiPath(API_RESOURCES.Namespace, { name });
    if (await get(path)) await client.request({ method: "DELETE", path });
  }
}
