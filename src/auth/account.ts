/** Whom a RoleBinding must name so that a user has its role. */
export type Account =
  | { readonly kind: "User"; readonly name: string }
  | { readonly kind: "ServiceAccount"; readonly namespace: string; readonly name: string };

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** @param username as Kubernetes tells it, `system:serviceaccount:team-a:ci` for a service account. Pure. */
export function accountOf(username: string): Account {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(username) ?? [];
  if (namespace === undefined || name === undefined) return { kind: "User", name: username };
  return { kind: "ServiceAccount", namespace, name };
}
