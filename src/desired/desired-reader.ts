import type { Diagnostic } from "../apis/index.ts";
import type { DesiredObject, DesiredState } from "../plan/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import type { GitReader, Resolved } from "../source/index.ts";
import { diagnosticOf } from "./fault.ts";
import { createIgnoreFiles } from "./ignore-files.ts";
import type { KnownObjects } from "./known-objects.ts";
import { createLayouts, type Layout } from "./layout.ts";
import { DEFAULT_LIMITS, type DesiredLimits } from "./limits.ts";
import { createManifestFiles, type Definition } from "./manifest-files.ts";
import { resolveBelow } from "./paths.ts";
import { placeFaults } from "./place-faults.ts";
import { createSources } from "./sources.ts";
import { createTreeReader } from "./tree-reader.ts";
import { createWorkloads, type Workload } from "./workloads.ts";

export interface DesiredReaderOptions {
  readonly git: GitReader;
  /** Folder below the root that is followed; "" = all. */
  readonly path: string;
  readonly namespace: string;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  /** Those that are left out have their defaults. */
  readonly limits?: Partial<DesiredLimits>;
}

/**
 * Tells what revisions of a repository want. It remembers by tree what it read: an unchanged folder is not read
 * again, and an unchanged object is the same JavaScript object as before. What no revision reaches any more goes.
 */
export interface DesiredReader {
  /**
   * One read at a time. A failed read forgets nothing.
   *
   * @throws SlessError `path_not_found`, `repository_too_large` and those of the GitReader
   */
  read(resolved: Pick<Resolved, "revision" | "tree">, known: KnownObjects): Promise<DesiredState>;
}

export function openDesiredReader(options: DesiredReaderOptions): DesiredReader {
  const { git, namespace, runtimes } = options;
  const limits: DesiredLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const path = resolveBelow("", options.path);
  const treeReader = createTreeReader(git, limits);
  const context = { git, namespace, runtimes, limits };
  const manifests = createManifestFiles(context);
  const layoutOf = createLayouts();
  const ignoreFiles = createIgnoreFiles(git);
  const sources = createSources(git, limits);
  const workloads = createWorkloads(runtimes, (misplaced) => placeFaults(context, misplaced));

  async function read(resolved: Pick<Resolved, "revision" | "tree">, known: KnownObjects): Promise<DesiredState> {
    const walk = await treeReader.read(resolved, path, options.path);
    const layout = layoutOf(await manifests.read(walk), known);
    const ignore = await ignoreFiles.read(walk);
    const sourceAt = await sources.read({ ...walk, layout, ignore });
    return stateOf(resolved.revision, layout, await workloads.join(layout.definitions, sourceAt), known);
  }

  return { read };
}

function stateOf(
  revision: string,
  { faulty, former, clashes }: Layout,
  workloads: readonly Workload[],
  known: KnownObjects,
): DesiredState {
  const refused = workloads.filter(({ object }) => !object);
  const blocked = new Set([
    ...clashes.blocked,
    ...[...faulty, ...former].flatMap(({ file }) => known.manifestFiles.get(file) ?? []),
    ...faulty.flatMap(({ named }) => named),
    ...refused.map(({ definition }) => definition.ref),
  ]);
  const diagnostics = [
    ...faulty.flatMap((file) => file.diagnostics),
    ...former.map((file) => formerManifest(file.file, known.manifestFiles.get(file.file)!)),
    ...clashes.diagnostics,
    ...refused.flatMap((workload) => workload.diagnostics),
  ];
  const isFree = blocked.size === 0 ? () => true : ({ ref }: Definition) => !blocked.has(ref);
  const objects: DesiredObject[] = [];
  for (const { definition, object } of workloads) if (object && isFree(definition)) objects.push(object);
  return {
    revision,
    objects,
    diagnostics: diagnostics.sort(byPlace),
    blocked,
    blocksPruning: faulty.length + former.length > 0,
  };
}

function formerManifest(file: string, refs: readonly string[]): Diagnostic {
  return diagnosticOf({ code: "no_longer_a_manifest", details: { objects: refs.join(", ") } }, { file });
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}
