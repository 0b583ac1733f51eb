import type { DesiredSource, SourceFile } from "../plan/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { type GitReader, type ObjectId, sourceDigest } from "../source/index.ts";
import type { Fault } from "./fault.ts";
import type { Trees } from "./folder-walk.ts";
import type { IgnoreFiles } from "./ignore-files.ts";
import { type DesiredLimits, MAX_IGNORE_BYTES } from "./limits.ts";
import { contentFaults } from "./source-content.ts";
import { collectSource } from "./source-files.ts";
import type { SourceFolders } from "./source-folders.ts";

/** Faults of one source that are told; the rest of them seldom says more. */
const MAX_FAULTS = 20;

/** The files of one folder that workloads run; several may share it. */
export interface Source {
  readonly files: readonly SourceFile[];
  /** With a fault, none of its workloads is written. */
  readonly faults: readonly Fault[];
  /** A file or a link to one stands at this path; what lies behind a linked folder counts as there. */
  has(path: string): boolean;
  /** As the plan wants it, for a runtime whose dependency files are told apart. */
  forRuntime(runtime: Pick<Runtime, "name" | "dependencyFiles">): DesiredSource;
}

export interface SourcesRequest {
  readonly trees: Trees;
  /** Tree of every folder that exists below the followed path. */
  readonly folders: ReadonlyMap<string, ObjectId>;
  readonly divided: SourceFolders;
  readonly manifests: ReadonlySet<string>;
  readonly ignore: IgnoreFiles;
}

interface Known {
  /** All that decides what a source is: equal keys, equal sources. */
  readonly key: string;
  readonly source: Source;
}

/** Reads sources, and each of them again only when something that decides it changed. */
export function createSources(git: GitReader, limits: DesiredLimits) {
  let known = new Map<string, Known>();

  /** By folder; a folder that does not exist has none. */
  async function read(request: SourcesRequest): Promise<ReadonlyMap<string, Source>> {
    const next = new Map<string, Known>();
    const changed: { path: string; tree: ObjectId; key: string }[] = [];
    for (const path of request.divided.folders) {
      const tree = request.folders.get(path);
      if (tree === undefined) continue;
      const key = [tree, request.ignore.versionAbove(path), ...request.divided.taken(path)].join("\n");
      const before = known.get(path);
      if (before?.key === key) next.set(path, before);
      else changed.push({ path, tree, key });
    }
    const collected = changed.map(({ path, tree }) => collect(path, tree, request));
    const faults = await contentFaults(
      git,
      collected.map(({ files }, index) => ({ path: changed[index]!.path, files })),
      limits,
    );
    for (const [index, { files, faults: ofTree }] of collected.entries()) {
      const { path, key } = changed[index]!;
      const all = [...ofIgnore(path, request.ignore), ...ofTree, ...faults[index]!].slice(0, MAX_FAULTS);
      next.set(path, { key, source: sourceOf(files, all) });
    }
    known = next;
    return new Map([...next].map(([path, { source }]) => [path, source]));
  }

  function collect(path: string, tree: ObjectId, request: SourcesRequest) {
    const taken = new Set(request.divided.taken(path));
    return collectSource(
      { path, tree },
      {
        trees: request.trees,
        maxFiles: limits.maxSourceFiles,
        isTaken: (inner) => taken.has(inner) || request.manifests.has(inner),
        isIgnored: request.ignore.isIgnored,
      },
    );
  }

  return { read };
}

function ofIgnore(folder: string, ignore: IgnoreFiles): Fault[] {
  const what = `an ignore file of more than ${MAX_IGNORE_BYTES / 1024} KiB`;
  return ignore.oversizedFor(folder).map((path) => ({ code: "source_unsupported", details: { path, what } }));
}

function sourceOf(files: readonly SourceFile[], faults: readonly Fault[]): Source {
  const digest = sourceDigest(files);
  const byRuntime = new Map<string, DesiredSource>();
  return {
    files,
    faults,
    has: (path) => files.some((file) => file.path === path || (isLink(file) && path.startsWith(`${file.path}/`))),
    forRuntime(runtime) {
      let source = byRuntime.get(runtime.name);
      if (!source) {
        const dependencies = files.filter((file) => runtime.dependencyFiles.includes(file.path));
        const { dependencyFiles } = runtime;
        source = { digest, dependenciesDigest: sourceDigest(dependencies), dependencyFiles, files };
        byRuntime.set(runtime.name, source);
      }
      return source;
    },
  };
}

function isLink(file: SourceFile): boolean {
  return file.mode === "120000";
}
