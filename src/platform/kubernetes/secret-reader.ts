import { keyOf, type ObjectKey, type WorkloadRef } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import { API_RESOURCES, type ApiObject, apiPath, isApiError, type KubernetesClient } from "../../kubernetes/index.ts";
import type { WorkloadSpec } from "../platform.ts";
import type { ClusterView } from "./cluster-view.ts";

/** Values of one Secret, base64, as of a version of it. */
interface KnownSecret {
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string>>;
}

/** Reads the Secrets that workloads name, each once per version of it. */
export interface SecretReader {
  /**
   * Values of `secretEnv` by the names of the variables, base64.
   *
   * @throws SlessError `secret_missing`, `cluster_unavailable`; ApiError
   */
  read(spec: WorkloadSpec): Promise<Record<string, string>>;
  /** The values that are known of it, as text: what must not stand in a message. */
  known(spec: WorkloadSpec): string[];
}

export function secretReader(client: KubernetesClient, { secrets }: Pick<ClusterView, "secrets">): SecretReader {
  const known = new Map<string, KnownSecret>();
  secrets.onChange((secret, _before, isGone) => {
    const key = keyOf({ namespace: secret.metadata.namespace ?? "", name: secret.metadata.name });
    if (isGone) known.delete(key);
  });

  async function valuesOf(key: ObjectKey): Promise<KnownSecret["data"] | undefined> {
    const live = secrets.get(key.namespace, key.name);
    if (!live) return undefined;
    const kept = known.get(keyOf(key));
    if (kept && isAsNew(kept.resourceVersion, live.metadata.resourceVersion)) return kept.data;
    const read = await readSecret(client, key);
    if (read) known.set(keyOf(key), { resourceVersion: read.metadata.resourceVersion ?? "0", data: read.data ?? {} });
    return read && (read.data ?? {});
  }

  return {
    async read({ workload, secretEnv }) {
      const entries = Object.entries(secretEnv).map(async ([variable, { secret, key }]) => {
        const value = (await valuesOf({ namespace: workload.namespace, name: secret }))?.[key];
        if (value === undefined) throw new SlessError("secret_missing", { secret, key });
        return [variable, value] as const;
      });
      return Object.fromEntries(await Promise.all(entries));
    },
    known({ workload, secretEnv }) {
      return Object.values(secretEnv).flatMap(({ secret, key }) => {
        const value = known.get(keyOf({ namespace: workload.namespace, name: secret }))?.data[key];
        return value === undefined ? [] : [Buffer.from(value, "base64").toString("utf8")];
      });
    },
  };
}

interface Secret extends ApiObject {
  data?: Record<string, string>;
}

async function readSecret(client: KubernetesClient, key: ObjectKey): Promise<Secret | undefined> {
  try {
    return await client.request<Secret>({ method: "GET", path: apiPath(API_RESOURCES.Secret, key) });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}

function isAsNew(known: string, live: string | undefined): boolean {
  return BigInt(known) >= BigInt(live ?? "0");
}

/** Which workloads use which secret. */
export interface SecretUsers {
  set(workload: WorkloadRef, spec: WorkloadSpec | undefined): void;
  of(secret: ObjectKey): WorkloadRef[];
}

export function secretUsers(): SecretUsers {
  const users = new Map<string, Map<string, WorkloadRef>>();
  const used = new Map<string, string[]>();

  return {
    set(workload, spec) {
      const own = `${workload.kind}/${keyOf(workload)}`;
      for (const secret of used.get(own) ?? []) {
        users.get(secret)?.delete(own);
        if (users.get(secret)?.size === 0) users.delete(secret);
      }
      const names = new Set(Object.values(spec?.secretEnv ?? {}).map(({ secret }) => secret));
      const keys = [...names].map((name) => keyOf({ namespace: workload.namespace, name }));
      if (keys.length === 0) used.delete(own);
      else used.set(own, keys);
      for (const key of keys) users.set(key, (users.get(key) ?? new Map()).set(own, workload));
    },
    of: (secret) => [...(users.get(keyOf(secret))?.values() ?? [])],
  };
}
