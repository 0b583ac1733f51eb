/**
 * The sync, the reconcilers and the platform of one controller in a process of their own, over a real API server; told
 * what to do by the benchmark. No pod runs: every function has 0 replicas. Images are there at once, or, with a registry
 * that has `base:1`, made there of the stored sources. What it applied for its n-th order is in
 * `<folder>/functions-<n>.jsonl` and `deployments-<n>.jsonl`.
 * Usage: sync-process.ts <kubeconfig> <repository> <namespace> <folder> [registry]
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { boundHeapGrowth } from "../../src/app/heap-growth.ts";
import { openLocalReader } from "../../src/app/open-git-reader.ts";
import { cachedStore, systemClock } from "../../src/controller/index.ts";
import {
  type ApiRequest,
  type KubernetesClient,
  openKubernetesClient,
  PATCH_TYPES,
} from "../../src/kubernetes/index.ts";
import { openKubernetesPlatform } from "../../src/platform/kubernetes/index.ts";
import { createObjectInformers, startReconcilers } from "../../src/reconcilers/index.ts";
import { openKubernetesStore } from "../../src/resources/kubernetes/index.ts";
import { loadRuntimes } from "../../src/runtimes/index.ts";
import { findGit } from "../../src/source/index.ts";
import { openFilesystemStore } from "../../src/storage/filesystem/index.ts";
import { createSyncController } from "../../src/sync/index.ts";
import { followTenants } from "../../src/tenancy/index.ts";
import { instantBuilder } from "../../test/support/instant-builder.ts";
import { openBuilder, openClient } from "../images/bench-registry.ts";
import type { Done, Order } from "./orders.ts";
import { requestLog } from "./request-log.ts";

const [kubeconfig = "", repository = "", namespace = "", folder = "", registry] = process.argv.slice(2);
const KEY = { namespace, name: "bench" };
const quiet = { debug() {}, warn: console.error, error: console.error };

boundHeapGrowth();
const requests = requestLog();
const applied = { functions: [] as string[], deployments: [] as string[] };
const plain = openKubernetesClient({
  from: { file: kubeconfig },
  perSecond: 5_000,
  burst: 5_000,
  onSent: requests.note,
});
const client = { ...recording(plain), yielding: recording(plain.yielding) };
const store = openKubernetesStore({ client });
const yielding = openKubernetesStore({ client: client.yielding });
const informers = createObjectInformers(store, quiet);
const watching = new AbortController();
await informers.start(watching.signal);
const memory = {
  Function: informers.functions,
  Service: informers.services,
  Trigger: informers.triggers,
  FunctionJob: informers.jobs,
  Repository: informers.repositories,
};
const runtimes = new Map(await loadRuntimes(join(import.meta.dirname, "../../runtimes")));
if (registry !== undefined)
  for (const [name, runtime] of runtimes) runtimes.set(name, { ...runtime, baseImage: `${registry}/base:1` });
const objects = await openFilesystemStore(join(folder, "objects"));
const common = { informers, runtimes, clock: systemClock, log: quiet, report: () => {} };
const tenants = await followTenants({
  client,
  settings: { ownNamespace: "sless" },
  clock: systemClock,
  log: quiet,
});
const platform = openKubernetesPlatform({
  client: client.yielding,
  clock: systemClock,
  log: quiet,
  ensureNamespace: tenants.ensureDeployNamespace,
});
await platform.start(watching.signal);
const reconcilers = await startReconcilers({
  ...common,
  store: cachedStore(yielding, memory),
  builder:
    registry === undefined ? instantBuilder() : openBuilder(openClient(registry), objects, join(folder, "builds")),
  platform,
  prepareStopped: true,
  urlOf: ({ name }) => `http://localhost/fn/${namespace}/${name}`,
});
const git = await findGit(process.env.PATH);
const sync = createSyncController({
  ...common,
  store: cachedStore(store, memory),
  objects,
  openGit: () => openLocalReader({ repository, git }),
});

process.on("message", (order: Order) => void obey(order));
process.send?.({ kind: "started" });

let orders = 0;

async function obey({ do: what, deployments = 0 }: Order): Promise<void> {
  requests.clear();
  orders += 1;
  const startMs = performance.now();
  if (what === "begin") {
    await store.apply(
      { kind: "Repository", metadata: KEY, spec: { url: "https://example.com/bench.git", interval: "1h" } },
      { owner: "api" },
    );
    await untilSynced();
  } else {
    sync.hint(KEY);
    await sync.idle();
  }
  const syncedMs = performance.now() - startMs;
  while (applied.deployments.length < deployments) await new Promise((resolve) => setTimeout(resolve, 5));
  await reconcilers.idle();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await reconcilers.idle();
  for (const [plural, bodies] of Object.entries(applied))
    await writeFile(join(folder, `${plural}-${orders}.jsonl`), bodies.splice(0).join(""));
  const done: Done = { kind: "done", syncedMs, ...requests.since(startMs) };
  process.send?.(done);
}

async function untilSynced(): Promise<void> {
  while (!informers.repositories.get(KEY)?.status?.lastAppliedRevision)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Keeps what was applied, for the loop that does only that. */
function recording<C extends Pick<KubernetesClient, "request">>(plain: C): C {
  return {
    ...plain,
    async request<T>(request: ApiRequest) {
      const answer = await plain.request<T>(request);
      const [, plural] = /\/(functions|deployments)\//.exec(request.path) ?? [];
      if (request.contentType === PATCH_TYPES.apply && plural !== undefined)
        applied[plural as keyof typeof applied].push(
          `${JSON.stringify({ path: request.path, query: request.query, body: request.body })}\n`,
        );
      return answer;
    },
  };
}
