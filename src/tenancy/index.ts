export { type ApiServerAddress, readApiServerAddresses } from "./api-server-addresses.ts";
export { toSlessError } from "./cluster-error.ts";
export { createTenancy, type Tenancy, type TenancyOptions } from "./create-tenancy.ts";
export { type DnsRule, dnsRules } from "./dns-rules.ts";
export { type EgressRule, type EgressSettings, egressRules, type IpBlock } from "./egress-rules.ts";
export {
  type FollowedTenants,
  type FollowTenantsOptions,
  followTenants,
  type TenantCorrections,
} from "./follow-tenants.ts";
export { isAsWanted } from "./is-as-wanted.ts";
export type { TenancySettings, TenantSubject } from "./tenancy-settings.ts";
export { applyObject } from "./tenant-writes.ts";
export type { Wanted } from "./wanted-objects.ts";
