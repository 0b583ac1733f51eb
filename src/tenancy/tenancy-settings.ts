import type { DnsRule } from "./dns-rules.ts";

/** What an operator sets for all tenants. */
export interface TenancySettings {
  /** Namespace in which sless itself runs: its gateway is let in, and it is nobody's. */
  readonly ownNamespace: string;
  /** `hard` of a ResourceQuota in each deploy namespace; undefined = none. */
  readonly quota?: Readonly<Record<string, string>> | undefined;
  /** `limits` of a LimitRange in each deploy namespace; undefined = none. */
  readonly limits?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** `hard` of a ResourceQuota in each user's namespace that sless made; undefined = none. */
  readonly objects?: Readonly<Record<string, string>> | undefined;
  /** Networks that functions may not reach besides private ones, and those among the private ones that they may. */
  readonly egressDenied?: readonly string[];
  readonly egressAllowed?: readonly string[];
  /** How functions ask the cluster's DNS; default: pods `k8s-app=kube-dns` of kube-system, port 53. */
  readonly dns?: readonly DnsRule[] | undefined;
  /** ClusterRole that a user gets in the namespace that was made for it; default `sless-tenant-editor`. */
  readonly editorRole?: string;
}

/** For whom a namespace is made, as RoleBindings name it. */
export type TenantSubject =
  | { readonly kind: "User" | "Group"; readonly name: string }
  | { readonly kind: "ServiceAccount"; readonly name: string; readonly namespace: string };
