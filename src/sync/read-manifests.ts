import { ANNOTATIONS, type AnyObject, ownerUidOf, refOf, refText } from "../apis/index.ts";
import { type DesiredReader, type KnownObjects, openDesiredReader } from "../desired/index.ts";
import { OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";
import type { RunInputs } from "./sync-memory.ts";

/** Reads what the revision wants. Ends the run when neither it, nor the spec, nor a live object changed since the last. */
export async function readManifests(run: Run, deps: SyncDeps): Promise<Outcome> {
  const { repository, memory } = run;
  const resolved = run.resolved!;
  run.live = await deps.reads.objects(repository.metadata.namespace);
  if (isSame(memory.settled?.inputs, inputsOf(run))) return { kind: "unchanged" };
  run.attempted = true;
  const owned = run.live.items.filter((object) => ownerUidOf(object) === repository.metadata.uid);
  run.owned = owned.filter(({ metadata }) => !metadata.deletionTimestamp).length;
  run.desired = await readerFor(run, deps).read(resolved, { manifestFiles: filesOf(owned) });
  return OK;
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

/** The objects by the file that they say they stand in. */
function filesOf(owned: readonly AnyObject[]): KnownObjects["manifestFiles"] {
  const files = new Map<string, string[]>();
  for (const object of owned) {
    const file = object.metadata.annotations?.[ANNOTATIONS.path];
    if (file === undefined) continue;
    const held = files.get(file);
    if (held) held.push(refText(refOf(object)));
    else files.set(file, [refText(refOf(object))]);
  }
  return files;
}
