import { GROUP } from "./group.ts";

const PREFIX = "sless-fn-";

/** Label of a deploy namespace, and of what stands in it for all of the tenant: the user's namespace. */
export const TENANT_LABEL = `${GROUP}/tenant`;

/** The namespace in which the workloads of a user's namespace run. */
export function deployNamespaceOf(namespace: string): string {
  return `${PREFIX}${namespace}`;
}

/** The user's namespace whose workloads run in a deploy namespace; undefined for any other namespace. */
export function userNamespaceOf(namespace: string): string | undefined {
  return isDeployNamespace(namespace) ? namespace.slice(PREFIX.length) : undefined;
}

/** A namespace that is some other's deploy namespace by its name. */
export function isDeployNamespace(namespace: string): boolean {
  return namespace.startsWith(PREFIX);
}
