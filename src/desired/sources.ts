import type { DesiredSource, SourceFile } from "../plan/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { type GitObjects, type ObjectId, sourceDigest } from "../source/index.ts";
import type { Fault } from "./fault.ts";
import type { Folder, Trees } from "./folder-walk.ts";
import type { IgnoreFiles } from "./ignore-files.ts";
import type { Layout } from "./layout.ts";
import { type DesiredLimits, MAX_IGNORE_BYTES } from "./limits.ts";
import { checkContents } from "./source-content.ts";
import { collectSource, type SourceContext } from "./source-files.ts";

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
  /** Every folder that exists below the followed path. */
  readonly folders: readonly Folder[];
  readonly layout: Pick<Layout, "divided" | "manifests">;
  readonly ignore: IgnoreFiles;
}

interface Known {
  readonly tree: ObjectId;
  /** All that decides, beside the tree, what a source is. */
  readonly context: string;
  readonly source: Source;
}

interface Changed extends Omit<Known, "source"> {
  readonly path: string;
}

/** Reads sources, and each of them again only when something that decides it changed. */
export function createSources(git: GitObjects, limits: DesiredLimits) {
  let known = new Map<string, Known>();
  let last: Pick<SourcesRequest, "layout" | "ignore"> | undefined;

  /** Answers the source of a folder; a folder that does not exist has none. */
  async function read(request: SourcesRequest): Promise<(path: string) => Source | undefined> {
    const next = new Map<string, Known>();
    const changed = changedSince(request, next);
    const collected = changed.map((one) => collectSource(one, contextOf(one.path, request, limits)));
    const contents = await checkContents(
      git,
      collected.map(({ files }, index) => ({ path: changed[index]!.path, files })),
      limits,
    );
    for (const [index, { files, faults: ofTree }] of collected.entries()) {
      const { path, tree, context } = changed[index]!;
      const { bytes, faults: ofContent } = contents[index]!;
      const all = [...ofIgnore(path, request.ignore), ...ofTree, ...ofContent].slice(0, MAX_FAULTS);
      next.set(path, { tree, context, source: sourceOf(files, bytes, all) });
    }
    known = next;
    last = { layout: request.layout, ignore: request.ignore };
    return (path) => next.get(path)?.source;
  }

  /** What has to be read; what is known goes to `next`. */
  function changedSince({ folders, layout, ignore }: SourcesRequest, next: Map<string, Known>): Changed[] {
    const { divided } = layout;
    const isSameContext = last?.layout.divided === divided && last.ignore === ignore;
    const changed: Changed[] = [];
    for (const { path, tree } of folders) {
      if (!divided.folders.has(path)) continue;
      const before = known.get(path);
      const context =
        before && isSameContext ? before.context : [ignore.versionAbove(path), ...divided.taken(path)].join("\n");
      if (before?.tree === tree && before.context === context) next.set(path, before);
      else changed.push({ path, tree, context });
    }
    return changed;
  }

  return { read };
}

function contextOf(path: string, { trees, layout, ignore }: SourcesRequest, limits: DesiredLimits): SourceContext {
  const taken = new Set(layout.divided.taken(path));
  return {
    trees,
    maxFiles: limits.maxSourceFiles,
    isTaken: (inner) => taken.has(inner) || layout.manifests.has(inner),
    isIgnored: ignore.isIgnored,
  };
}

function ofIgnore(folder: string, ignore: IgnoreFiles): Fault[] {
  const what = `an ignore file of more than ${MAX_IGNORE_BYTES / 1024} KiB`;
  return ignore.oversizedFor(folder).map((path) => ({ code: "source_unsupported", details: { path, what } }));
}

function sourceOf(files: readonly SourceFile[], bytes: number, faults: readonly Fault[]): Source {
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
        source = { digest, dependenciesDigest: sourceDigest(dependencies), dependencyFiles, files, bytes };
        byRuntime.set(runtime.name, source);
      }
      return source;
    },
  };
}

function isLink(file: SourceFile): boolean {
  return file.mode === "120000";
}
