import type { SourceFile } from "../plan/index.ts";
import { type EntryName, entryFaults, type TreeMode } from "../source/index.ts";
import type { Fault } from "./fault.ts";
import { entriesOf, type Folder, isGitFolder, type Trees } from "./folder-walk.ts";
import { below } from "./paths.ts";

/** What decides, beside the trees, which files belong to a source. Paths are below the root. */
export interface SourceContext {
  readonly trees: Trees;
  readonly maxFiles: number;
  /** A manifest, or the folder of another workload's source. */
  isTaken(path: string): boolean;
  isIgnored(path: string, isFolder: boolean): boolean;
}

export interface CollectedSource {
  /** As Git orders them within a folder. */
  readonly files: readonly SourceFile[];
  readonly faults: readonly Fault[];
}

/** The files of a source, and what its tree alone tells is wrong with them. */
export function collectSource(folder: Folder, context: SourceContext): CollectedSource {
  const files: SourceFile[] = [];
  const faults: Fault[] = [];
  const names: EntryName[] = [];
  const stack: { folder: Folder; prefix: string }[] = [{ folder, prefix: "" }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    for (const entry of entriesOf(context.trees, next.folder.tree)) {
      const path = below(next.folder.path, entry.name);
      const isFolder = entry.mode === "40000";
      if (context.isTaken(path) || context.isIgnored(path, isFolder)) continue;
      const inSource = below(next.prefix, entry.name);
      if (isFolder && !isGitFolder(entry)) stack.push({ folder: { path, tree: entry.id }, prefix: inSource });
      else names.push({ path: inSource, kind: KINDS[entry.mode] });
      if (entry.mode === "160000") faults.push({ code: "source_unsupported", details: { path, what: "a submodule" } });
      else if (!isFolder) files.push({ path: inSource, mode: entry.mode as SourceFile["mode"], id: entry.id });
    }
    if (files.length > context.maxFiles) return { files: [], faults: [...faults, tooMany(folder, context.maxFiles)] };
  }
  // A copy is as large as it must be; an array that grew is not.
  return { files: files.slice(), faults: [...faults, ...nameFaults(folder.path, names)] };
}

const KINDS: Record<TreeMode, EntryName["kind"]> = {
  "40000": "folder",
  "160000": "folder",
  "120000": "link",
  "100644": "file",
  "100755": "file",
};

function nameFaults(source: string, names: readonly EntryName[]): Fault[] {
  return entryFaults(names).map(({ path, reason }) => ({
    code: "source_name_refused",
    details: { path: below(source, path), cause: reason },
  }));
}

function tooMany(folder: Folder, limit: number): Fault {
  const details = { what: whatOf(folder.path), actual: `more than ${limit} files`, limit: `${limit} files` };
  return { code: "source_too_large", details };
}

export function whatOf(path: string): string {
  return path === "" ? "the whole repository" : `${path}/`;
}
