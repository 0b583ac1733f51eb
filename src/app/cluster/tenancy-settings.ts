import type { ClusterSettings } from "../../config/index.ts";
import type { TenancySettings } from "../../tenancy/index.ts";

/** What the installation decides for all tenants. */
export function tenancySettings({ pod, tenant, dns }: ClusterSettings): TenancySettings {
  const { quota, limits, objects, egressDenied, egressAllowed } = tenant;
  return { ownNamespace: pod.namespace, quota, limits, objects, egressDenied, egressAllowed, dns };
}
