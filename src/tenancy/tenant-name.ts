import { deployNamespaceOf, isDeployNamespace, NAMESPACE_MAX_LENGTH, NAMESPACE_PATTERN } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";

const pattern = new RegExp(NAMESPACE_PATTERN);

/**
 * Refuses namespaces that cannot be a user's: those of Kubernetes (`kube-…`), sless's own, and deploy namespaces.
 * `default` may be one, as any other that people made.
 *
 * @throws SlessError `invalid_request` with what is wrong
 */
export function checkTenantName(namespace: string, ownNamespace: string): void {
  const fault = faultOf(namespace, ownNamespace);
  if (fault) throw new SlessError("invalid_request", { cause: `namespace ${namespace.slice(0, 63)} ${fault}` });
}

function faultOf(namespace: string, ownNamespace: string): string | undefined {
  if (!pattern.test(namespace)) return "is no name: use lower-case letters, digits and -";
  if (namespace.length > NAMESPACE_MAX_LENGTH)
    return `is longer than ${NAMESPACE_MAX_LENGTH} characters: ${deployNamespaceOf("")}<namespace> must be a name too`;
  if (namespace.startsWith("kube-")) return "belongs to Kubernetes; use another";
  if (namespace === ownNamespace) return "is that of sless itself; use another";
  if (isDeployNamespace(namespace)) return "is where functions run; use the namespace that they belong to";
  return undefined;
}
