import { refOf, sourceKey, type WorkloadRef } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import type { DesiredObject, DesiredSource } from "../plan/index.ts";
import { type GitReader, packArchive, packedPieces } from "../source/index.ts";
import { eachLimited } from "./each-limited.ts";
import { isAskedFor, OK, type Outcome, type Run } from "./run.ts";
import { storedFiles } from "./stored-files.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** Small archives that are packed at a time, in memory; larger ones are stored as they are packed, one at a time. */
const PACKED_AT_A_TIME = 16;
const SMALL_BYTES = 2 * 1024 * 1024;

/**
 * Stores the sources of the objects that are about to be written, where they are not stored yet. An object whose source
 * cannot be stored is not written. Workloads that share a source share the packing. Once per process, and when somebody
 * asked for this run, archives that got lost are stored anew.
 */
export async function uploadSources(run: Run, deps: SyncDeps): Promise<Outcome> {
  const wanted = wantedSources(run);
  const isThorough = isAskedFor(run) || !run.memory.isStoreChecked;
  const lost = isThorough ? await lostSources(run, deps) : [];
  const groups = [...Map.groupBy([...wanted, ...lost], ({ source }) => source.digest).values()];
  const isSmall = ([first]: Wanted[]) => isSmallSource(first!.source);
  const upload = (group: Wanted[]) => uploadGroup(group, run, deps);
  await eachLimited(groups.filter(isSmall), upload, PACKED_AT_A_TIME);
  await eachLimited(
    groups.filter((group) => !isSmall(group)),
    upload,
    1,
  );
  run.memory.isStoreChecked = true;
  return OK;
}

/** Sources of unchanged objects that are not where the objects say. */
async function lostSources(run: Run, { objects }: SyncDeps): Promise<Wanted[]> {
  const { namespace } = run.repository.metadata;
  const kept = sourcesOf(run.plan!.actions.flatMap((action) => (action.kind === "unchanged" ? [action.desired] : [])));
  if (kept.length === 0) return [];
  const stored = new Set<string>();
  for (const folder of ["functions", "jobs"])
    for await (const key of objects.list(`${folder}/${namespace}/`)) stored.add(key);
  return kept.filter(({ ref, source }) => !stored.has(sourceKey(ref, source.digest)));
}

interface Wanted {
  readonly ref: WorkloadRef;
  readonly source: DesiredSource;
}

function wantedSources(run: Run): Wanted[] {
  return sourcesOf(
    run.plan!.actions.flatMap((action) =>
      action.kind === "create" || action.kind === "update" || action.kind === "adopt" ? [action.desired] : [],
    ),
  );
}

function sourcesOf(objects: readonly DesiredObject[]): Wanted[] {
  return objects.flatMap(({ intent, source }) => (source ? [{ ref: refOf(intent) as WorkloadRef, source }] : []));
}

async function uploadGroup(group: readonly Wanted[], run: Run, deps: SyncDeps): Promise<void> {
  const { git } = run.memory.opened!;
  let archive: Promise<Uint8Array> | undefined;
  for (const { ref, source } of group) {
    run.signal.throwIfAborted();
    const key = sourceKey(ref, source.digest);
    const started = deps.clock.monotonicMs();
    try {
      if (await deps.objects.has(key)) continue;
      if (isSmallSource(source)) {
        archive ??= pack(git, source);
        await deps.objects.put(key, await archive);
      } else {
        await deps.objects.put(key, packedPieces(await storedFiles(git, source)));
      }
    } catch (error) {
      // A full disk refuses every archive; a blob that is corrupt or edited only those that hold it.
      if (!isSlessError(error, "object_missing") && !isSlessError(error, "file_changed")) throw error;
      run.failures.push({ doing: "upload", ref, error });
      continue;
    }
    const durationMs = deps.clock.monotonicMs() - started;
    deps.report({ step: "stored", object: ref, sourceDigest: source.digest, durationMs });
  }
}

function isSmallSource({ bytes = Number.POSITIVE_INFINITY }: DesiredSource): boolean {
  return bytes <= SMALL_BYTES;
}

async function pack(git: GitReader, source: DesiredSource): Promise<Uint8Array> {
  const contents = await git.blobs([...new Set(source.files.map(({ id }) => id))]);
  return packArchive(
    source.files.map((file) => ({ path: file.path, mode: file.mode, content: contents.get(file.id)! })),
  );
}
