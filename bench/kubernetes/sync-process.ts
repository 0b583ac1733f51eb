/**
 * The sync, the reconcilers and the platform of one controller in a process of their own, over a real API server; told
 * what to do by the benchmark. Images are there at once, and no pod runs: every function has 0 replicas.
 * Usage: sync-process.ts <kubeconfig> <repository> <namespace> <folder>
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
import type { Done, Order } from "./orders.ts";
import { requestLog } from "./request-log.ts";

const [kubeconfig = "", repository = "", namespace = "", folder = ""] = process.argv.slice(2);
const KEY = { namespace, name: "bench" };
const quiet = { debug() {}, warn: console.error, error: console.error };

boundHeapGrowth();
const requests = requestLog();
const bodies: string[] = [];
const client = openKubernetesClient({
  from: { file: kubeconfig },
  perSecond: 5_000,
  burst: 5_000,
  onSent: requests.note,
});
const store = openKubernetesStore({ client: recording(client) });
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
const runtimes = await loadRuntimes(join(import.meta.dirname, "../../runtimes"));
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
  builder: instantBuilder(),
  platform,
  prepareStopped: true,
  urlOf: ({ name }) => `http://localhost/fn/${namespace}/${name}`,
});
const git = await findGit(process.env.PATH);
const sync = createSyncController({
  ...common,
  store: cachedStore(store, memory),
  objects: await openFilesystemStore(join(folder, "objects")),
  openGit: () => openLocalReader({ repository, git }),
});

process.on("message", (order: Order) => void obey(order));
process.send?.({ kind: "started" });

async function obey(order: Order): Promise<void> {
  requests.clear();
  const startMs = performance.now();
  if (order === "begin") {
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
  await reconcilers.idle();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await reconcilers.idle();
  if (order === "begin") await writeFile(join(folder, "bodies.jsonl"), bodies.join(""));
  const done: Done = { kind: "done", syncedMs, ...requests.since(startMs) };
  process.send?.(done);
}

async function untilSynced(): Promise<void> {
  while (!informers.repositories.get(KEY)?.status?.lastAppliedRevision)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Keeps what was applied, for the loop that does only that. */
function recording(plain: KubernetesClient): KubernetesClient {
  return {
    ...plain,
    request<T>(request: ApiRequest) {
      if (request.contentType === PATCH_TYPES.apply && request.path.includes("/functions/"))
        bodies.push(`${JSON.stringify({ path: request.path, query: request.query, body: request.body })}\n`);
      return plain.request<T>(request);
    },
  };
}
