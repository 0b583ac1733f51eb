import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AnyObject,
  type Kind,
  type ObjectOf,
  type ObjectRef,
  REPOSITORY_CONTENT_KINDS,
  type RepositorySpec,
  type RepositoryStatus,
  refOf,
  refText,
  WORKLOAD_KINDS,
} from "../../src/apis/index.ts";
import type { Next } from "../../src/controller/index.ts";
import type { DesiredLimits } from "../../src/desired/index.ts";
import type { ProgressEvent } from "../../src/report/index.ts";
import { openEmbeddedStore } from "../../src/resources/embedded/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { findGit, type GitReader } from "../../src/source/index.ts";
import { openNativeReader } from "../../src/source/native/index.ts";
import { openFilesystemStore } from "../../src/storage/filesystem/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import {
  createSyncMemory,
  type LiveReads,
  reconcileRepository,
  type SyncDeps,
  type SyncMemory,
  storeReads,
} from "../../src/sync/index.ts";
import { cleanUpAtOnce } from "../support/clean-up-at-once.ts";
import { runtimes } from "../support/function-files.ts";
import { type Files, type GitRepository, gitRepository } from "../support/git-repository.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export const KEY = { namespace: "demo", name: "site" };

export interface WorldOptions {
  readonly spec?: Partial<RepositorySpec>;
  readonly limits?: Partial<DesiredLimits>;
  readonly store?: (store: ResourceStore) => ResourceStore;
  readonly objects?: (objects: ObjectStore) => ObjectStore;
  readonly git?: (git: GitReader) => GitReader;
  /** False: nobody cleans up after workloads that are deleted. */
  readonly reconcilers?: false;
}

/** A real git repository, an embedded store, a folder of archives, and a sync between them. */
export interface SyncWorld {
  readonly git: GitRepository;
  /** As sync sees it, with what the test wrapped around it. */
  readonly store: ResourceStore;
  readonly objects: ObjectStore;
  readonly clock: ManualClock;
  readonly events: ProgressEvent[];
  /** Writes that sync asked for since the last look, `apply Function/demo/hello`; the Repository's status is `status`. */
  writes(): string[];
  deps(changes?: Partial<SyncDeps>): SyncDeps;
  /** One run. `memory` is kept from run to run; `restart` begins with an empty one. */
  sync(): Promise<Next>;
  restart(): Promise<void>;
  repository(): Promise<ObjectOf<"Repository">>;
  status(): Promise<RepositoryStatus>;
  /** `False BuildFailed`. */
  ready(): Promise<string>;
  get<K extends Kind>(kind: K, name: string): Promise<ObjectOf<K> | undefined>;
  /** `refText` of all objects but the repositories, sorted. */
  names(): Promise<string[]>;
  setSpec(spec: Record<string, unknown>): Promise<void>;
}

export async function syncWorld(files: Files, options: WorldOptions = {}): Promise<SyncWorld> {
  const git = await gitRepository(files);
  const opened = await openEmbeddedStore(":memory:");
  const plain = options.reconcilers === false ? opened : cleanUpAtOnce(opened, WORKLOAD_KINDS);
  const log: string[] = [];
  const store = recording((options.store ?? ((same) => same))(plain), log);
  const folder = await openFilesystemStore(join(await temporaryFolder(), "objects"));
  const objects = (options.objects ?? ((same) => same))(folder);
  const clock = manualClock();
  const events: ProgressEvent[] = [];
  let memory: SyncMemory = createSyncMemory();
  onTestFinished(async () => {
    await memory.close();
    await plain.close();
  });
  const reads: LiveReads = storeReads(plain);
  const deps = (changes: Partial<SyncDeps> = {}): SyncDeps => ({
    store,
    objects,
    openGit: async (repository) => (options.git ?? ((same) => same))(await openGit(repository.spec.url)),
    runtimes,
    clock,
    report: (event) => events.push(event),
    reads,
    memory,
    ...(options.limits && { limits: options.limits }),
    ...changes,
  });
  await plain.create<"Repository">(
    { kind: "Repository", metadata: KEY, spec: { url: git.dir, ...options.spec } },
    { owner: "api" },
  );
  const repository = async () => (await plain.get("Repository", KEY))!;
  const status = async () => (await repository()).status ?? {};
  return {
    git,
    store,
    objects,
    clock,
    events,
    writes: () => log.splice(0),
    deps,
    sync: () => reconcileRepository(KEY, deps()),
    async restart() {
      await memory.close();
      memory = createSyncMemory();
    },
    repository,
    status,
    async ready() {
      const ready = (await status()).conditions?.find(({ type }) => type === "Ready");
      return `${ready?.status} ${ready?.reason}`;
    },
    get: (kind, name) => plain.get(kind, { namespace: KEY.namespace, name }),
    names: async () => (await contents(plain)).map((object) => refText(refOf(object))).sort(),
    async setSpec(spec) {
      await plain.patch("Repository", KEY, { spec }, { owner: "api" });
    },
  };
}

export async function openGit(dir: string): Promise<GitReader> {
  return openNativeReader({ repository: dir, git: (await findGit(process.env.PATH))! });
}

/** All objects but the repositories. */
export async function contents(store: ResourceStore): Promise<AnyObject[]> {
  const lists = await Promise.all(REPOSITORY_CONTENT_KINDS.map((kind) => store.list(kind)));
  return lists.flatMap((list) => list.items as AnyObject[]);
}

function recording(store: ResourceStore, log: string[]): ResourceStore {
  const name = (verb: string, ref: ObjectRef) => log.push(`${verb} ${refText(ref)}`);
  return {
    ...store,
    create(intent, options) {
      name("create", refOf(intent));
      return store.create(intent, options);
    },
    apply(intent, options) {
      name("apply", refOf(intent));
      return store.apply(intent, options);
    },
    patch(kind, key, patch, options) {
      name("patch", { kind, ...key });
      return store.patch(kind, key, patch, options);
    },
    updateStatus(object, next, options) {
      log.push(object.kind === "Repository" ? "status" : `status ${refText(refOf(object))}`);
      return store.updateStatus(object, next, options);
    },
    delete(kind, key, options) {
      name("delete", { kind, ...key });
      return store.delete(kind, key, options);
    },
  };
}

/** Everything that a sync made: objects without what differs from one life to the next, and the archives' keys. */
export async function endState(world: SyncWorld): Promise<unknown> {
  const objects = await contents(world.store);
  const keys: string[] = [];
  for await (const key of world.objects.list("")) keys.push(key);
  return {
    keys,
    objects: objects
      .map(({ kind, metadata, spec }) => ({
        kind,
        name: metadata.name,
        labels: metadata.labels,
        annotations: metadata.annotations,
        spec,
      }))
      .map((object) =>
        JSON.parse(
          JSON.stringify(object).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|(?<=applied-hash":")[0-9a-f]+/g, "UID"),
        ),
      ),
  };
}
