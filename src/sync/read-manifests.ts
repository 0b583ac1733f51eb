import { ANNOTATIONS, ownerUidOf, refOf, refText } from "../apis/index.ts";
import { type DesiredReader, openDesiredReader } from "../desired/index.ts";
import type { LiveObjects } from "./live-reads.ts";
import { isStoreLookedAt, OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";
import type { Inventory, RunInputs } from "./sync-memory.ts";

/** Reads what the revision wants. Ends the run when neither it, nor the spec, nor a live object changed since the last. */
export async function readManifests(run: Run, deps: SyncDeps): Promise<Outcome> {
  const { repository, memory } = run;
  const resolved = run.resolved!;
  run.live = await deps.reads.objects(repository.metadata.namespace);
  run.lacking = await lackingOf(run, deps);
  if (run.lacking.size === 0 && !isStoreLookedAt(run, deps) && isSame(memory.settled?.inputs, inputsOf(run)))
    return { kind: "unchanged" };
  run.attempted = true;
  const started = deps.clock.monotonicMs();
  if (memory.inventory?.live !== run.live) memory.inventory = inventoryOf(run.live, repository.metadata.uid);
  run.owned = memory.inventory.count;
  run.desired = await readerFor(run, deps).read(resolved, memory.inventory);
  memory.desired = run.desired;
  run.readingMs = deps.clock.monotonicMs() - started;
  return OK;
}

/** Objects of the repository whose sources builds could not read. */
async function lackingOf({ repository: { metadata } }: Run, { reads }: SyncDeps): Promise<ReadonlySet<string>> {
  const lacking = await reads.lackingSource(metadata.namespace);
  return new Set(
    lacking.filter((object) => ownerUidOf(object) === metadata.uid).map((object) => refText(refOf(object))),
  );
}

/** All that decides what a run does. */
export function inputsOf(run: Run): RunInputs {
  return {
    commit: run.resolved!.commit,
    revision: run.resolved!.revision,
    generation: run.repository.metadata.generation,
    liveVersion: run.live!.version,
  };
}

function isSame(before: RunInputs | undefined, now: RunInputs): boolean {
  return (
    before !== undefined &&
    now.liveVersion !== undefined &&
    before.liveVersion === now.liveVersion &&
    before.commit === now.commit &&
    before.revision === now.revision &&
    before.generation === now.generation
  );
}

function readerFor({ repository, memory }: Run, deps: SyncDeps): DesiredReader {
  const opened = memory.opened!;
  const path = repository.spec.path ?? "";
  if (opened.desired?.path !== path) {
    const { runtimes, limits } = deps;
    const { namespace } = repository.metadata;
    const options = { git: opened.git, path, namespace, runtimes, ...(limits && { limits }) };
    opened.desired = { path, reader: openDesiredReader(options) };
  }
  return opened.desired.reader;
}

/** What of the live objects is the repository's, and in which files it says that it stands. */
function inventoryOf(live: LiveObjects, uid: string): Inventory {
  const manifestFiles = new Map<string, string[]>();
  let count = 0;
  for (const object of live.items) {
    if (ownerUidOf(object) !== uid) continue;
    if (!object.metadata.deletionTimestamp) count += 1;
    const file = object.metadata.annotations?.[ANNOTATIONS.path];
    if (file === undefined) continue;
    // Not pushed: an array that grows takes room for sixteen more.
    manifestFiles.set(file, (manifestFiles.get(file) ?? []).concat(refText(refOf(object))));
  }
  return { live, count, manifestFiles };
}
