import { isSecretKey, type ObjectKey } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { API_RESOURCES, type ApiObject, type ApiResource } from "../kubernetes/index.ts";

/** https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/ */
export interface SecretObject extends ApiObject {
  readonly type?: string;
  /** Base64 by key. */
  readonly data?: Readonly<Record<string, string>>;
}

export const SECRET: ApiResource = API_RESOURCES.Secret;
const OPAQUE = "Opaque";

/** Types that people write themselves; all others (tokens, registry logins, releases) are the business of their makers. */
const USERS_TYPES: ReadonlySet<string> = new Set([
  OPAQUE,
  "kubernetes.io/basic-auth",
  "kubernetes.io/ssh-auth",
  "kubernetes.io/tls",
]);

/** Leaves out most of what is not users', on the server. */
export const USERS_FIELD_SELECTOR = [
  "kubernetes.io/service-account-token",
  "kubernetes.io/dockerconfigjson",
  "kubernetes.io/dockercfg",
  "helm.sh/release.v1",
]
  .map((type) => `type!=${type}`)
  .join(",");

/** Set on Secrets that were made through the REST API. */
const ORIGIN_LABEL = "sless.kube5s.ru/origin";

export function isUsers({ type = OPAQUE }: SecretObject): boolean {
  return USERS_TYPES.has(type);
}

/** @throws SlessError `secret_foreign` */
export function checkUsers(secret: SecretObject): void {
  const { namespace, name } = secret.metadata;
  if (!isUsers(secret))
    throw new SlessError("secret_foreign", { secret: `${namespace}/${name}`, type: secret.type ?? "" });
}

/** Name and keys, sorted; keys that sless has no name for are left out. */
export function itemOf({ metadata, data = {} }: SecretObject): ObjectKey & { readonly keys: readonly string[] } {
  const { namespace = "", name } = metadata;
  return { namespace, name, keys: Object.keys(data).filter(isSecretKey).sort() };
}

/** A new Secret of the REST API. */
export function newSecret({ namespace, name }: ObjectKey, data: SecretObject["data"]): SecretObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, labels: { [ORIGIN_LABEL]: "api" } },
    type: OPAQUE,
    data: data ?? {},
  };
}
