import { ownerUidOf, refOf, refText } from "../apis/index.ts";
import { type DesiredReader, openDesiredReader } from "../desired/index.ts";
import { inventoryOf } from "./inventory.ts";
import { isStoreLookedAt, OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";
import type { RunInputs } from "./sync-memory.ts";

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
  if (memory.inventory?.live !== run.live)
    memory.inventory = inventoryOf(run.live, repository.metadata.uid, memory.inventory);
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
