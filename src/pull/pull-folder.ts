import { lstatSync } from "node:fs";
import { join } from "node:path";
import { refText, type WorkloadRef } from "../apis/index.ts";
import { isSlessError, messageOf } from "../errors/index.ts";
import { readArchive } from "../source/index.ts";
import { checkOutcome, type ReadingOptions, readFiles } from "./check-outcome.ts";
import { type FetchedSource, fetchedSource } from "./fetched-source.ts";
import { withIgnored } from "./ignored-by-git.ts";
import { type PullFolder, refused } from "./open-folder.ts";
import { missingSources, type PullPlan, planPull } from "./plan-pull.ts";
import type { FolderState, PullRequest, PullRow } from "./pull-request.ts";
import { presentSources } from "./source-changes.ts";
import type { Candidate, Skip } from "./stand-objects.ts";
import { lookAt, type WalkOptions, walkFolder } from "./walk-folder.ts";
import { writeChanges } from "./write-changes.ts";

/** Archives that are downloaded at the same time. */
const DOWNLOADS = 8;
/** Of one source; what a server takes is far less. */
const ARCHIVE_LIMITS = { maxBytes: 512 << 20, maxFiles: 100_000 };
/** Sources that are held in memory until they are written; the next pull brings the rest. */
const SOURCES_MAX_BYTES = 512 << 20;

export interface PullOptions extends Omit<PullRequest, "folder" | "neverDeployed"> {
  readonly place: PullFolder;
  /** Folder below the root that is pulled into, `place.folder` or deeper. */
  readonly scope: string;
  /** Names of the runtimes that manifests may name; those of the live objects count as known. */
  readonly runtimes: Iterable<string>;
  /** The archive of an object's present source. */
  readonly download: (ref: WorkloadRef) => Promise<Uint8Array>;
  /** As in a PullRequest, once the folder is read. */
  readonly neverDeployed: (folder: FolderState) => Promise<PullRequest["neverDeployed"]>;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

export interface PullResult {
  /** Sorted by kind and name. */
  readonly rows: readonly PullRow[];
  /** The signal came before all was written. */
  readonly isInterrupted: boolean;
}

/**
 * Makes a folder say what the server has. Only sources that differ are downloaded, and nothing is written that would
 * not come out as the server has it. A dry run writes nothing.
 */
export async function pullFolder(options: PullOptions): Promise<PullResult> {
  const { place, scope, namespace } = options;
  refuseLinks(place.root, scope);
  const walking: WalkOptions = {
    root: place.root,
    folder: scope,
    tracked: place.checkout?.tracked,
    format: place.format,
    exclude: place.checkout?.exclude ?? "",
  };
  const reading = { namespace, runtimes: runtimesOf(options) };
  const folder = await readFolder(walking, reading);
  const request: PullRequest = { ...options, folder, neverDeployed: await options.neverDeployed(folder) };
  const sources = await fetchSources(missingSources(request), options);
  const plan = await soundPlan(request, sources, reading);
  const rows = withIgnored(plan, folder, walking.exclude);
  if (options.dryRun) return { rows, isInterrupted: false };
  const { signal } = options;
  const writing = { root: place.root, scope, signal, lookAt: (path: string) => lookAt(path, walking) };
  const { failed, isInterrupted } = await writeChanges(plan.changes, writing);
  return { rows: rows.map((row) => withFailure(row, failed)), isInterrupted };
}

/** What the repository follows must be folders here: through a link they would lie somewhere else. */
function refuseLinks(root: string, scope: string): void {
  let at = root;
  for (const part of scope.split("/").filter(Boolean)) {
    at = join(at, part);
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) throw refused(`${at} is a link`);
  }
}

function runtimesOf({ runtimes, live }: PullOptions): Set<string> {
  const ofLive = live.flatMap(({ spec }) => ("runtime" in spec && spec.runtime !== undefined ? [spec.runtime] : []));
  return new Set([...runtimes, ...ofLive]);
}

async function readFolder(walking: WalkOptions, reading: ReadingOptions): Promise<FolderState> {
  const files = walkFolder(walking);
  const { folder: scope, tracked, format } = walking;
  const definitions = await readFiles(files, scope, reading).catch((error: unknown) => {
    // A folder that is not there yet defines nothing.
    if (!isSlessError(error, "path_not_found")) throw error;
    return { objects: new Map(), blocked: new Map(), faulty: new Map(), manifests: new Set<string>() };
  });
  return {
    scope,
    files,
    definitions,
    sources: presentSources(definitions, tracked),
    tracked,
    format,
    lookAt: (path) => files.get(path) ?? lookAt(path, walking),
  };
}

/** A plan of which every object comes out right: those that would not are left out. */
async function soundPlan(
  request: PullRequest,
  sources: ReadonlyMap<string, FetchedSource>,
  reading: ReadingOptions,
): Promise<PullPlan> {
  const refused = new Map<string, Skip>();
  for (;;) {
    const plan = planPull(request, sources, refused);
    if (plan.changes.length === 0) return plan;
    const wrong = await checkOutcome(plan, request.folder, reading);
    if (wrong.size === 0) return plan;
    for (const [key, why] of wrong) refused.set(key, why);
  }
}

async function fetchSources(missing: readonly Candidate[], options: PullOptions): Promise<Map<string, FetchedSource>> {
  const sources = new Map<string, FetchedSource>();
  const byDigest = [...new Map(missing.map((candidate) => [candidate.digest!, candidate])).values()];
  let bytes = 0;
  async function next(): Promise<void> {
    for (let candidate = byDigest.shift(); candidate; candidate = byDigest.shift()) {
      if (bytes > SOURCES_MAX_BYTES) {
        const fault = "the sources of this pull are too large together; pull again for the rest";
        sources.set(candidate.digest!, { fault });
        continue;
      }
      const source = await fetchOne(candidate, options);
      if ("files" in source) for (const { size } of source.files.values()) bytes += size;
      sources.set(candidate.digest!, source);
    }
  }
  await Promise.all(Array.from({ length: DOWNLOADS }, next));
  return sources;
}

async function fetchOne({ ref, digest }: Candidate, { download, place }: PullOptions): Promise<FetchedSource> {
  try {
    const archive = await readArchive(await download(ref as WorkloadRef), ARCHIVE_LIMITS);
    return fetchedSource(archive, digest!, place.format);
  } catch (error) {
    if (isSlessError(error, "server_unreachable")) throw error;
    return { fault: `its source cannot be had: ${messageOf(error)}` };
  }
}

function withFailure(row: PullRow, failed: ReadonlyMap<string, string>): PullRow {
  const reason = failed.get(refText(row.ref));
  return reason === undefined ? row : { ...row, action: "failed", reason, isFault: true };
}
