export { createTenancy, type Tenancy, type TenancyOptions } from "./create-tenancy.ts";
export { type FollowedTenants, type FollowTenantsOptions, followTenants } from "./follow-tenants.ts";
export type { TenancySettings, TenantSubject } from "./tenancy-settings.ts";
