import { onTestFinished } from "vitest";
import { type Kind, type ObjectOf, REPOSITORY_CONTENT_KINDS } from "../../src/apis/index.ts";
import { systemClock, type TimerClock } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import type { ProgressEvent } from "../../src/report/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { createSyncController, type SyncController } from "../../src/sync/index.ts";
import { eventually } from "../support/eventually.ts";
import { runtimes } from "../support/function-files.ts";
import { type Files, type GitRepository, gitRepository } from "../support/git-repository.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";
import { syncInformers } from "../support/sync-informers.ts";
import { openGit } from "./sync-world.ts";

export interface DriftWorld {
  readonly git: GitRepository;
  readonly store: ResourceStore;
  readonly namespace: string;
  readonly controller: SyncController;
  readonly events: ProgressEvent[];
  /** How often the server was asked. */
  asked(): number;
  /** From now on it does not answer. */
  cut(): void;
  repository(): Promise<ObjectOf<"Repository">>;
  get<K extends Kind>(kind: K, name: string): Promise<ObjectOf<K> | undefined>;
  /** Waits until the function is like this. */
  until(what: string, holds: (seen: ObjectOf<"Function"> | undefined) => boolean, withinMs?: number): Promise<unknown>;
}

/** A repository behind a server that is synced into a namespace of any store, by a controller over informers. */
export async function driftWorld(
  files: Files,
  { store, namespace, clock = systemClock }: { store: ResourceStore; namespace: string; clock?: TimerClock },
): Promise<DriftWorld> {
  const git = await gitRepository(files);
  const informers = await syncInformers(store, { namespace });
  const events: ProgressEvent[] = [];
  let asked = 0;
  let isCut = false;
  const controller = createSyncController({
    store,
    objects: memoryObjectStore(),
    runtimes,
    clock,
    report: (event) => void events.push(event),
    informers,
    async openGit({ spec }) {
      const reader = await openGit(spec.url);
      return {
        ...reader,
        asksServer: true,
        async resolve(ref) {
          asked += 1;
          if (isCut) throw new SlessError("repository_unreachable", { url: spec.url, cause: "no route" });
          return reader.resolve(ref);
        },
      };
    },
  });
  onTestFinished(() => controller.stop());
  const key = { namespace, name: "site" };
  await store.create<"Repository">(
    { kind: "Repository", metadata: key, spec: { url: git.dir, interval: "1h" } },
    { owner: "api" },
  );
  const world: DriftWorld = {
    git,
    store,
    namespace,
    controller,
    events,
    asked: () => asked,
    cut: () => {
      isCut = true;
    },
    repository: async () => (await store.get("Repository", key))!,
    get: (kind, name) => store.get(kind, { namespace, name }),
    until: (what, holds, withinMs) =>
      eventually(what, () => store.get("Function", { namespace, name: "hello" }), holds, withinMs),
  };
  await eventually("it is synced", world.repository, ({ status }) => status?.lastAppliedRevision !== undefined);
  await world.controller.idle();
  return world;
}

/** Everything but statuses, to see that nothing was written. */
export async function versions({ store, namespace }: DriftWorld): Promise<string[]> {
  const lists = await Promise.all(REPOSITORY_CONTENT_KINDS.map((kind) => store.list(kind, { namespace })));
  return lists.flatMap(({ items }) => items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`));
}
