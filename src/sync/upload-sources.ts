import { refOf, refText, sourceKey, type WorkloadRef } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import type { DesiredObject, DesiredSource } from "../plan/index.ts";
import { type GitReader, packArchive, packedPieces } from "../source/index.ts";
import { mendObject } from "../storage/index.ts";
import { eachLimited } from "./each-limited.ts";
import { isStoreLookedAt, OK, type Outcome, type Run } from "./run.ts";
import { storedFiles } from "./stored-files.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** Small archives that are packed at a time, in memory; larger ones are stored as they are packed, one at a time. */
const PACKED_AT_A_TIME = 16;
const SMALL_BYTES = 2 * 1024 * 1024;

/**
 * Stores the sources of the objects that are about to be written, where they are not stored yet. An object whose source
 * cannot be stored is not written. Workloads that share a source share the packing. Archives of unchanged objects that got
 * lost are stored anew, and those that builds could not read are compared with the repository and replaced.
 */
export async function uploadSources(run: Run, deps: SyncDeps): Promise<Outcome> {
  const wanted = wantedSources(run);
  const isThorough = isStoreLookedAt(run, deps);
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
  if (isThorough) run.memory.storeCheckedAtMs = deps.clock.monotonicMs();
  for (const unread of unreadSources(run)) await mendSource(unread, run, deps);
  return OK;
}

/** Sources of unchanged objects that builds could not read; what a build wants is in the object that is live. */
function unreadSources(run: Run): Wanted[] {
  return run.lacking?.size ? unchangedSources(run).filter(({ ref }) => run.lacking!.has(refText(ref))) : [];
}

async function mendSource({ ref, source }: Wanted, run: Run, deps: SyncDeps): Promise<void> {
  run.signal.throwIfAborted();
  const { git } = run.memory.opened!;
  const started = deps.clock.monotonicMs();
  await ofOneObject(run, ref, async () => {
    const found = await mendObject(deps.objects, sourceKey(ref, source.digest), () => piecesOf(git, source));
    if (found === "sound") return;
    const durationMs = deps.clock.monotonicMs() - started;
    deps.report({ step: "stored", object: ref, sourceDigest: source.digest, instead: found, durationMs });
  });
}

/** Sources of unchanged objects that are not where the objects say. */
async function lostSources(run: Run, { objects }: SyncDeps): Promise<Wanted[]> {
  const { namespace } = run.repository.metadata;
  const kept = unchangedSources(run);
  if (kept.length === 0) return [];
  const stored = new Set<string>();
  for (const folder of ["functions", "jobs"])
    for await (const key of objects.list(`${folder}/${namespace}/`)) stored.add(key);
  return kept
    .filter(({ ref, source }) => !stored.has(sourceKey(ref, source.digest)))
    .map((wanted) => ({ ...wanted, isLost: true }));
}

interface Wanted {
  readonly ref: WorkloadRef;
  readonly source: DesiredSource;
  /** It was stored before. */
  readonly isLost?: boolean;
}

function unchangedSources(run: Run): Wanted[] {
  return sourcesOf(run.plan!.actions.flatMap((action) => (action.kind === "unchanged" ? [action.desired] : [])));
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
  for (const { ref, source, isLost } of group) {
    run.signal.throwIfAborted();
    const key = sourceKey(ref, source.digest);
    const started = deps.clock.monotonicMs();
    await ofOneObject(run, ref, async () => {
      if (await deps.objects.has(key)) return;
      if (isSmallSource(source)) {
        archive ??= pack(git, source);
        await deps.objects.put(key, await archive);
      } else {
        await deps.objects.put(key, piecesOf(git, source));
      }
      const durationMs = deps.clock.monotonicMs() - started;
      const instead = isLost ? { instead: "missing" as const } : {};
      deps.report({ step: "stored", object: ref, sourceDigest: source.digest, ...instead, durationMs });
    });
  }
}

/** A full disk refuses every archive; a blob that is corrupt or edited only those that hold it. */
async function ofOneObject(run: Run, ref: WorkloadRef, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isSlessError(error, "object_missing") && !isSlessError(error, "file_changed")) throw error;
    run.failures.push({ doing: "upload", ref, error });
  }
}

/** The archive as it is stored, made anew. */
async function* piecesOf(git: GitReader, source: DesiredSource): AsyncGenerator<Uint8Array> {
  if (isSmallSource(source)) yield await pack(git, source);
  else yield* packedPieces(await storedFiles(git, source));
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
