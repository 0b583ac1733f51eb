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
  readonly digest: string;
  /** Of all files together. */
  readonly bytes: number;
}

/** A file or a link to one stands at this path; what lies behind a linked folder counts as there. */
export function hasFile({ files }: Pick<Source, "files">, path: string): boolean {
  return files.some((file) => file.path === path || (isLink(file) && path.startsWith(`${file.path}/`)));
}

const NO_DEPENDENCIES = sourceDigest([]);

/** The source as the plan wants it, for a runtime whose dependency files are told apart. */
export function desiredSource(source: Source, { dependencyFiles }: Pick<Runtime, "dependencyFiles">): DesiredSource {
  const { digest, files, bytes } = source;
  const dependencies = files.filter(({ path }) => dependencyFiles.includes(path));
  const dependenciesDigest = dependencies.length === 0 ? NO_DEPENDENCIES : sourceDigest(dependencies);
  return { digest, dependenciesDigest, dependencyFiles, files, bytes };
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
      next.set(path, { tree, context, source: { files, faults: all, digest: sourceDigest(files), bytes } });
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

function isLink(file: SourceFile): boolean {
  return file.mode === "120000";
}
