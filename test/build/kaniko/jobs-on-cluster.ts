import { createHash, randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import type { ImageJobRequest, ImageJobState } from "../../../src/build/index.ts";
import { buildJobName, type KanikoJobs, type KanikoOptions, kanikoJobs } from "../../../src/build/kaniko/index.ts";
import { systemClock, type TimerClock } from "../../../src/controller/index.ts";
import { openKubernetesClient } from "../../../src/kubernetes/index.ts";
import type { ObjectStore } from "../../../src/storage/index.ts";
import { eventually } from "../../support/eventually.ts";
import type { ApiAnswer, TestCluster } from "../../support/kubernetes/index.ts";
import { memoryObjectStore } from "../../support/memory-object-store.ts";

export const DIGEST = `sha256:${"d".repeat(64)}`;

export interface BuildWorld {
  readonly jobs: KanikoJobs;
  /** Build namespace. */
  readonly namespace: string;
  readonly objects: ObjectStore;
  readonly cluster: TestCluster;
  /** Keys of which the jobs told. */
  readonly told: string[];
  /** Another process on the same cluster and the same object store. */
  another(settings?: Partial<KanikoOptions>): Promise<BuildWorld>;
  /** Ends it as a killed process does. */
  kill(): void;
  get(
    resource: "jobs" | "pods" | "networkpolicies" | "resourcequotas" | "secrets",
    name?: string,
  ): Promise<ApiAnswer["body"]>;
  /** Waits until `ensure` says so. */
  until(
    request: ImageJobRequest,
    phase: ImageJobState["phase"] | ((state: ImageJobState) => boolean),
  ): Promise<ImageJobState>;
  /** Merges into the status of the build's pod, as a kubelet does. */
  setPod(key: string, status: object): Promise<void>;
}

export interface WorldOptions {
  readonly settings?: Partial<KanikoOptions>;
  /** Chooses what becomes of the pods (see `TestCluster`). */
  readonly image?: string;
  readonly namespace?: string;
  readonly objects?: ObjectStore;
  readonly clock?: TimerClock;
  /** Default: with TLS. */
  readonly storeOrigin?: string;
}

const PATHS: Record<string, string> = {
  jobs: "apis/batch/v1",
  networkpolicies: "apis/networking.k8s.io/v1",
};

/** Builds on a cluster whose pods run nothing; a pod that ends well tells `DIGEST`. */
export async function jobsOnCluster(cluster: TestCluster, options: WorldOptions = {}): Promise<BuildWorld> {
  const namespace = options.namespace ?? `builds-${randomBytes(4).toString("hex")}`;
  const objects = options.objects ?? memoryObjectStore();
  const storeOrigin = options.storeOrigin ?? "https://s3.example.org";
  const client = openKubernetesClient({ from: { file: cluster.kubeconfig }, perSecond: 5_000, burst: 5_000 });
  const stop = new AbortController();
  const jobs = kanikoJobs({
    client,
    objects,
    presign: async (key, seconds) => `${storeOrigin}/bucket/${key}?X-Amz-Expires=${seconds}`,
    clock: options.clock ?? systemClock,
    log: { warn: () => undefined },
    settings: {
      namespace,
      builderImage: "builder:1",
      slessImage: options.image ?? "sless:1",
      registry: { host: "registry.example.org" },
      env: { TEST_RESULT: DIGEST },
      unschedulableSec: 1,
      ...options.settings,
    },
  });
  onTestFinished(async () => {
    stop.abort();
    await client.close();
  });
  const told: string[] = [];
  jobs.onChange((key) => told.push(key));
  await jobs.start(stop.signal);
  const path = (resource: string, name = "") =>
    `/${PATHS[resource] ?? "api/v1"}/namespaces/${namespace}/${resource}${name && `/${name}`}`;

  return {
    jobs,
    namespace,
    objects,
    cluster,
    told,
    another: (settings) =>
      jobsOnCluster(cluster, { ...options, namespace, objects, settings: { ...options.settings, ...settings } }),
    kill: () => stop.abort(),
    async get(resource, name) {
      const { status, body } = await cluster.request("GET", path(resource, name));
      return status === 404 ? undefined : (body.items ?? body);
    },
    until(request, phase) {
      const holds = typeof phase === "function" ? phase : (state: ImageJobState) => state.phase === phase;
      return eventually("the build", () => jobs.ensure(request), holds);
    },
    async setPod(key, status) {
      const selector = encodeURIComponent(`batch.kubernetes.io/job-name=${buildJobName(key)}`);
      const list = () => cluster.request("GET", `${path("pods")}?labelSelector=${selector}`);
      const { body } = await eventually("the build's pod", list, (answer) => answer.body.items?.length === 1);
      const [pod] = body.items;
      const answer = await cluster.request("PATCH", `${path("pods", pod.metadata.name)}/status`, {
        body: { status },
        contentType: "application/strategic-merge-patch+json",
      });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
  };
}

/** A build of one file; equal texts are equal keys. */
export function buildOf(text: string, namespace = "demo", rest: Partial<ImageJobRequest> = {}): ImageJobRequest {
  return {
    key: createHash("sha256").update(text).digest("hex"),
    workload: { kind: "Function", namespace, name: "hello" },
    target: { repository: "sless-deps", tag: "1" },
    dockerfile: "FROM registry.example.org/python:3.11\nCOPY deps/ /deps/\nRUN pip install -r /deps/requirements.txt\n",
    async *files() {
      yield { path: "deps/requirements.txt", content: Buffer.from(text) };
    },
    ...rest,
  };
}
