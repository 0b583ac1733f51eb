import type { V1EnvVar } from "@kubernetes/client-node";
import type { WorkloadSpec } from "../platform.ts";

/** Port that every replica listens on. */
export const REPLICA_PORT = 8080;

/** A home for what must have one; the root file system is read-only. */
const BASE = { HOME: "/tmp", TMPDIR: "/tmp" };

/**
 * Environment of a workload's container, sorted by name; what sless sets wins over what the user sets.
 *
 * @param secretName Secret of the deploy namespace that holds the values of `secretEnv` by the names of the variables
 * @param more further variables of sless
 */
export function containerEnv(
  spec: WorkloadSpec,
  secretName: string | undefined,
  more: Readonly<Record<string, string>>,
): V1EnvVar[] {
  const own = {
    SLESS_ENTRYPOINT: spec.entrypoint,
    SLESS_FUNCTION: spec.workload.name,
    SLESS_NAMESPACE: spec.workload.namespace,
    SLESS_TIMEOUT_SEC: String(spec.timeoutSec),
    SLESS_MEMORY_MB: String(spec.memoryMB),
    ...more,
  };
  const variables = new Map<string, V1EnvVar>();
  for (const [name, value] of Object.entries({ ...BASE, ...spec.env })) variables.set(name, plain(name, value));
  if (secretName !== undefined)
    for (const name of Object.keys(spec.secretEnv)) variables.set(name, fromSecret(name, secretName));
  for (const [name, value] of Object.entries(own)) variables.set(name, plain(name, value));
  return [...variables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Kubernetes reads `$(OTHER)` as a reference, and `$$` as one `$`. */
function plain(name: string, value: string): V1EnvVar {
  return { name, value: value.replaceAll("$", () => "$$") };
}

function fromSecret(name: string, secret: string): V1EnvVar {
  return { name, valueFrom: { secretKeyRef: { name: secret, key: name } } };
}
