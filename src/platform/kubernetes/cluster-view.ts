import { deployNamespaceOf, MANAGED_SELECTOR, refText, type WorkloadRef } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";
import {
  API_RESOURCES,
  type ApiObject,
  type ApiResource,
  type KubernetesClient,
  type ObjectWatch,
  watchResource,
} from "../../kubernetes/index.ts";
import { type ChildrenIndex, indexChildren } from "./children-index.ts";
import {
  type LiveChild,
  type LiveDeployment,
  type LiveEndpoints,
  type LiveJob,
  type LiveNamespace,
  type LivePod,
  type LiveReplicaSet,
  reduceChild,
  reduceEndpoints,
  reduceJob,
  reduceNamespace,
  reducePod,
  reduceReplicaSet,
  reduceSecret,
} from "./live-objects.ts";
import { workloadOf } from "./names.ts";

export interface ViewOptions {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly log?: { warn(fields: object, message: string): void };
}

/** Children of all workloads in all deploy namespaces, as the API server tells them. */
export interface ClusterView {
  readonly deployments: ObjectWatch<LiveDeployment>;
  readonly services: ObjectWatch<LiveChild>;
  readonly jobs: ObjectWatch<LiveJob>;
  /** Deploy namespaces. */
  readonly namespaces: ObjectWatch<LiveNamespace>;
  /** Metadata of every Secret of the cluster, those of users among them. */
  readonly secrets: ObjectWatch<LiveChild>;
  /** The Deployment that carries the workload's name, when it is of its kind too. */
  deployment(workload: WorkloadRef): LiveDeployment | undefined;
  hasService(workload: WorkloadRef): boolean;
  replicaSets(workload: WorkloadRef): LiveReplicaSet[];
  pods(workload: WorkloadRef): LivePod[];
  endpoints(workload: WorkloadRef): LiveEndpoints["ready"];
  /** What sless wrote for the workload; what Kubernetes makes of it is not among it. */
  children(
    workload: WorkloadRef,
  ): { readonly kind: "Deployment" | "Service" | "Job" | "Secret"; readonly object: ApiObject }[];
  workloads(): WorkloadRef[];
  /** Resolves when all is in memory. */
  start(signal: AbortSignal): Promise<void>;
  /** Hears of every change of a child of a workload. Returns the way to unlisten. */
  onChange(listener: (workload: WorkloadRef) => void): () => void;
}

export function openClusterView(options: ViewOptions): ClusterView {
  const open = <T extends ApiObject>(resource: ApiResource, reduce: (object: T) => T) =>
    watchResource<T>(options.client, resource, {
      ...base(options),
      labelSelector: MANAGED_SELECTOR,
      managedFields: true,
      reduce,
    });
  const deployments = open<LiveDeployment>(API_RESOURCES.Deployment, reduceChild);
  const services = open<LiveChild>(API_RESOURCES.Service, reduceChild);
  const jobs = open<LiveJob>(API_RESOURCES.Job, reduceJob);
  const replicaSets = open<LiveReplicaSet>(API_RESOURCES.ReplicaSet, reduceReplicaSet);
  const pods = open<LivePod>(API_RESOURCES.Pod, reducePod);
  const endpoints = openEndpoints(options);
  const namespaces = open<LiveNamespace>(API_RESOURCES.Namespace, reduceNamespace);
  // The contents of secrets are never watched: those that a workload names are read, one by one.
  const secrets = watchResource<LiveChild>(options.client, API_RESOURCES.Secret, {
    ...base(options),
    metadataOnly: true,
    managedFields: true,
    fieldSelector: "type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token",
    reduce: reduceSecret,
  });
  const index = {
    jobs: indexChildren(jobs),
    replicaSets: indexChildren(replicaSets),
    pods: indexChildren(pods),
    secrets: indexChildren(secrets),
  };
  const watches: readonly ObjectWatch<never>[] = [
    deployments,
    services,
    jobs,
    replicaSets,
    pods,
    endpoints.watch,
    secrets,
  ] as never;

  return {
    deployments,
    services,
    jobs,
    namespaces,
    secrets,
    deployment: (workload) => ofKind(workload, deployments.get(deployNamespaceOf(workload.namespace), workload.name)),
    hasService: ({ namespace, name }) => services.get(deployNamespaceOf(namespace), name) !== undefined,
    replicaSets: index.replicaSets.of,
    pods: index.pods.of,
    endpoints: (workload) => readyOf(endpoints.index, workload),
    children(workload) {
      const namespace = deployNamespaceOf(workload.namespace);
      const named =
        workload.kind === "FunctionJob"
          ? []
          : [
              { kind: "Deployment" as const, object: deployments.get(namespace, workload.name) },
              { kind: "Service" as const, object: services.get(namespace, workload.name) },
            ];
      const found = [
        ...named,
        ...index.jobs.of(workload).map((object) => ({ kind: "Job" as const, object })),
        ...index.secrets.of(workload).map((object) => ({ kind: "Secret" as const, object })),
      ];
      return found.flatMap(({ kind, object }) => (ofKind(workload, object) ? [{ kind, object: object! }] : []));
    },
    workloads() {
      const all = [deployments, services, jobs, secrets].flatMap((watch) => [...(watch.all() as Iterable<ApiObject>)]);
      const refs = all.flatMap((object) => workloadOf(object) ?? []);
      return [...new Map(refs.map((ref) => [`${ref.kind}/${ref.namespace}/${ref.name}`, ref])).entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, ref]) => ref);
    },
    async start(signal) {
      await Promise.all([namespaces, ...watches].map((watch) => watch.start(signal)));
    },
    onChange(listener) {
      const stops = watches.map((watch) =>
        watch.onChange((object: ApiObject, before: ApiObject | undefined) => {
          const workload = workloadOf(object);
          const former = before && workloadOf(before);
          // Whoever lost it by an edit of its labels takes it back, before another takes it for his.
          if (former && !isSame(former, workload)) listener(former);
          if (workload) listener(workload);
        }),
      );
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/** Of each name the replicas that take calls. */
export function openEndpoints(options: ViewOptions): {
  readonly watch: ObjectWatch<LiveEndpoints>;
  readonly index: ChildrenIndex<LiveEndpoints>;
} {
  const watch = watchResource<LiveEndpoints>(options.client, API_RESOURCES.EndpointSlice, {
    ...base(options),
    labelSelector: MANAGED_SELECTOR,
    reduce: reduceEndpoints,
  });
  return { watch, index: indexChildren(watch) };
}

export function readyOf(index: ChildrenIndex<LiveEndpoints>, workload: WorkloadRef): LiveEndpoints["ready"] {
  const slices = index.of(workload);
  return slices.length === 1 ? slices[0]!.ready : slices.flatMap(({ ready }) => ready);
}

function ofKind<T extends ApiObject>(workload: WorkloadRef, object: T | undefined): T | undefined {
  return object && workloadOf(object)?.kind === workload.kind ? object : undefined;
}

function isSame(a: WorkloadRef, b: WorkloadRef | undefined): boolean {
  return b !== undefined && refText(a) === refText(b);
}

function base({ clock, log }: ViewOptions) {
  return { clock, ...(log ? { log } : {}) };
}
