import { refOf, sourceKey, type WorkloadRef } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import type { DesiredSource } from "../plan/index.ts";
import { type GitReader, packArchive } from "../source/index.ts";
import { eachLimited } from "./each-limited.ts";
import { OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** Archives that are packed at a time; each may hold a whole source in memory. */
const PACKED_AT_A_TIME = 3;

/**
 * Stores the sources of the objects that are about to be written, where they are not stored yet. An object whose source
 * cannot be stored is not written. Workloads that share a source share the packing.
 */
export async function uploadSources(run: Run, deps: SyncDeps): Promise<Outcome> {
  const groups = Map.groupBy(wantedSources(run), ({ source }) => source.digest);
  await eachLimited([...groups.values()], (group) => uploadGroup(group, run, deps), PACKED_AT_A_TIME);
  return OK;
}

interface Wanted {
  readonly ref: WorkloadRef;
  readonly source: DesiredSource;
}

function wantedSources(run: Run): Wanted[] {
  return run.plan!.actions.flatMap((action) => {
    if (action.kind !== "create" && action.kind !== "update" && action.kind !== "adopt") return [];
    const { intent, source } = action.desired;
    return source ? [{ ref: refOf(intent) as WorkloadRef, source }] : [];
  });
}

async function uploadGroup(group: readonly Wanted[], run: Run, deps: SyncDeps): Promise<void> {
  let archive: Promise<Uint8Array> | undefined;
  for (const { ref, source } of group) {
    run.signal.throwIfAborted();
    const key = sourceKey(ref, source.digest);
    const started = deps.clock.monotonicMs();
    try {
      if (await deps.objects.has(key)) continue;
      archive ??= pack(run.memory.opened!.git, source);
      await deps.objects.put(key, await archive);
    } catch (error) {
      // A full disk refuses every archive; a corrupt blob only those that hold it.
      if (!isSlessError(error, "object_missing")) throw error;
      run.failures.push({ doing: "upload", ref, error });
      continue;
    }
    const durationMs = deps.clock.monotonicMs() - started;
    deps.report({ step: "stored", object: ref, sourceDigest: source.digest, durationMs });
  }
}

async function pack(git: GitReader, source: DesiredSource): Promise<Uint8Array> {
  const contents = await git.blobs([...new Set(source.files.map(({ id }) => id))]);
  return packArchive(
    source.files.map((file) => ({ path: file.path, mode: file.mode, content: contents.get(file.id)! })),
  );
}
