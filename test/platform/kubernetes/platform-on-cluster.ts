import { onTestFinished } from "vitest";
import { deployNamespaceOf } from "../../../src/apis/index.ts";
import { systemClock } from "../../../src/controller/clock.ts";
import { openKubernetesClient } from "../../../src/kubernetes/index.ts";
import type { WorkloadSpec, WorkloadState } from "../../../src/platform/index.ts";
import {
  type KubernetesPlatform,
  openKubernetesPlatform,
  type PlatformSettings,
} from "../../../src/platform/kubernetes/index.ts";
import { eventually } from "../../support/eventually.ts";
import type { ApiAnswer, TestCluster } from "../../support/kubernetes/index.ts";

export interface PlatformWorld {
  readonly platform: KubernetesPlatform;
  /** Of the user; the workloads run in `deployNamespace`. */
  readonly namespace: string;
  readonly deployNamespace: string;
  readonly cluster: TestCluster;
  /** Requests that the platform has sent; watches are none. */
  requests(): number;
  /** A second platform on the same cluster, as after a restart. */
  restart(): Promise<PlatformWorld>;
  get(resource: string, name: string): Promise<ApiAnswer["body"]>;
  list(resource: string, selector?: string): Promise<ApiAnswer["body"][]>;
  /** A merge patch by somebody else; JSON patch when it is a list. */
  edit(resource: string, name: string, patch: object): Promise<void>;
  drop(resource: string, name: string): Promise<void>;
  /** A Secret of the user's namespace, made or replaced. */
  secret(name: string, data: Readonly<Record<string, string>>, labels?: Record<string, string>): Promise<void>;
  /** Applies the spec now and whenever the platform tells of it, as a reconciler does. */
  keep(spec: WorkloadSpec, replicas: number): Promise<WorkloadState | undefined>;
}

const GROUPS: Record<string, string> = {
  deployments: "apis/apps/v1",
  replicasets: "apis/apps/v1",
  jobs: "apis/batch/v1",
};

export interface WorldOptions {
  readonly settings?: Partial<PlatformSettings>;
  readonly namespace?: string;
}

/** A platform on the cluster, in namespaces of its own. */
export async function platformOnCluster(cluster: TestCluster, options: WorldOptions = {}): Promise<PlatformWorld> {
  const namespace = options.namespace ?? (await cluster.createNamespace("demo"));
  const deployNamespace = deployNamespaceOf(namespace);
  const client = openKubernetesClient({ from: { file: cluster.kubeconfig }, perSecond: 5_000, burst: 5_000 });
  const platform = openKubernetesPlatform({
    client,
    clock: systemClock,
    log: { warn: () => undefined },
    settings: { unschedulableSec: 1, ...options.settings },
    ensureNamespace: (wanted) => makeDeployNamespace(deployNamespaceOf(wanted), cluster),
  });
  const stop = new AbortController();
  onTestFinished(async () => {
    stop.abort();
    await client.close();
  });
  await platform.start(stop.signal);
  return {
    platform,
    namespace,
    deployNamespace,
    cluster,
    requests: () => client.sent.requests,
    restart: () => platformOnCluster(cluster, { ...options, namespace }),
    async get(resource, name) {
      const { status, body } = await cluster.request("GET", childPath(deployNamespace, resource, name));
      return status === 404 ? undefined : body;
    },
    async list(resource, selector = "") {
      const path = `${childPath(deployNamespace, resource)}?labelSelector=${encodeURIComponent(selector)}`;
      return (await cluster.request("GET", path)).body.items ?? [];
    },
    async edit(resource, name, patch) {
      const path = `${childPath(deployNamespace, resource, name)}?fieldManager=somebody`;
      const contentType = `application/${Array.isArray(patch) ? "json" : "merge"}-patch+json`;
      await done(cluster.request("PATCH", path, { body: patch, contentType }));
    },
    drop: (resource, name) => done(cluster.request("DELETE", childPath(deployNamespace, resource, name))),
    secret: (name, data, labels = {}) =>
      done(
        cluster.request("PATCH", `${childPath(namespace, "secrets", name)}?fieldManager=user&force=true`, {
          body: { apiVersion: "v1", kind: "Secret", metadata: { name, labels }, stringData: data },
        }),
      ),
    async keep(spec, replicas) {
      const apply = () => platform.apply(spec, replicas).catch(() => undefined);
      onTestFinished(platform.onChange((workload) => void (workload.name === spec.workload.name && apply())));
      return apply();
    },
  };
}

export function childPath(namespace: string, resource: string, name?: string): string {
  const path = `/${GROUPS[resource] ?? "api/v1"}/namespaces/${namespace}/${resource}`;
  return name === undefined ? path : `${path}/${name}`;
}

async function done(answer: Promise<ApiAnswer>): Promise<void> {
  const { status, body } = await answer;
  if (status >= 400) throw new Error(JSON.stringify(body));
}

/** As the tenancy makes it, as far as pods are concerned. */
async function makeDeployNamespace(name: string, cluster: TestCluster): Promise<void> {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted", "app.kubernetes.io/managed-by": "sless" };
  const { status, body } = await cluster.request("POST", "/api/v1/namespaces", {
    body: { metadata: { name, labels } },
  });
  if (status >= 400 && status !== 409) throw new Error(JSON.stringify(body));
}

/** A spec with a Secret of the user's in its environment, applied once the platform has seen the Secret. */
export async function withSecret(world: PlatformWorld, spec: WorkloadSpec): Promise<WorkloadSpec> {
  await world.secret("api", { token: "t0ken" });
  const secretive = { ...spec, secretEnv: { TOKEN: { secret: "api", key: "token" } } };
  await eventually(
    "the secret is seen",
    () => world.platform.apply(secretive, 1),
    (state) => !state.failure,
  );
  return secretive;
}
