import { CHILD_LABELS, deployNamespaceOf, hashFields, MANAGED_BY, type WorkloadRef } from "../../apis/index.ts";
import { type Manifest, sealed } from "./manifest.ts";
import { inputNameOf, labelsOf, REGISTRY_SECRET } from "./names.ts";

export interface SecretManifest extends Manifest {
  type: string;
  immutable?: boolean;
  /** Base64. */
  data: Record<string, string>;
}

const DOCKER_CONFIG = ".dockerconfigjson";
/** Key of a run's event; no variable can have this name. */
export const EVENT_KEY = "event.json";

/**
 * Copies of the values of `secretEnv`, by the names of the variables. Its name holds a checksum of them: other values
 * are another Secret and so another revision, while the replicas of the old one keep theirs.
 *
 * @param values base64, by the names of the variables
 */
export function envSecretOf(workload: WorkloadRef, values: Readonly<Record<string, string>>): SecretManifest {
  return secretOf(workload, { name: envSecretName(workload, values), immutable: true, data: { ...values } });
}

export function envSecretName(workload: WorkloadRef, values: Readonly<Record<string, string>>): string {
  const pairs = Object.keys(values)
    .sort()
    .flatMap((name) => [name, values[name]!]);
  const checksum = hashFields([workload.kind, workload.namespace, workload.name, ...pairs]).slice(0, 10);
  return `${workload.name}-env-${checksum}`;
}

/** What a run of a job reads: the values of `secretEnv`, and its event. */
export function runSecretOf(
  workload: WorkloadRef,
  jobName: string,
  values: Readonly<Record<string, string>>,
  eventJSON: string | undefined,
): SecretManifest {
  const data: Record<string, string> = { ...values };
  if (eventJSON !== undefined) data[EVENT_KEY] = Buffer.from(eventJSON).toString("base64");
  return secretOf(workload, { name: inputNameOf(jobName), data });
}

function secretOf(
  workload: WorkloadRef,
  { name, ...rest }: { name: string; immutable?: boolean; data: Record<string, string> },
): SecretManifest {
  return sealed({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: deployNamespaceOf(workload.namespace),
      labels: labelsOf(workload),
      annotations: {},
    },
    type: "Opaque",
    ...rest,
  });
}

/**
 * What a docker config says of one registry and nothing else of it.
 *
 * @param config base64 of a `.dockerconfigjson`
 * @returns undefined when it says nothing of the registry, or is none
 */
export function registrySecretOf(
  deployNamespace: string,
  host: string,
  config: string | undefined,
): SecretManifest | undefined {
  const entry = Object.entries(authsOf(config)).find(([address]) => hostOf(address) === host);
  if (!entry) return undefined;
  const data = Buffer.from(JSON.stringify({ auths: { [entry[0]]: entry[1] } })).toString("base64");
  return sealed({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: REGISTRY_SECRET,
      namespace: deployNamespace,
      labels: { [CHILD_LABELS.managedBy]: MANAGED_BY, [CHILD_LABELS.name]: REGISTRY_SECRET },
      annotations: {},
    },
    type: "kubernetes.io/dockerconfigjson",
    data: { [DOCKER_CONFIG]: data },
  });
}

/** The docker config of a Secret. */
export function dockerConfigOf(secret: { readonly data?: Readonly<Record<string, string>> }): string | undefined {
  return secret.data?.[DOCKER_CONFIG];
}

function authsOf(config: string | undefined): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(config ?? "", "base64").toString("utf8"));
    const { auths } = parsed as { auths?: Record<string, unknown> };
    return auths !== null && typeof auths === "object" ? auths : {};
  } catch {
    return {};
  }
}

/** `https://registry.example.com/v1/` and `registry.example.com` are the same registry. */
function hostOf(address: string): string {
  return address.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
}
