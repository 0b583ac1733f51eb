import { basename } from "node:path/posix";
import { isWorkloadRefText } from "./known-objects.ts";
import type { YamlFile } from "./manifest-files.ts";
import { parentOf } from "./paths.ts";

/** Files that hold a workload when they parse. */
const WORKLOAD_FILES: ReadonlySet<string> = new Set(["function.yaml", "service.yaml", "job.yaml"]);

/** How a repository is divided into sources. */
export interface SourceFolders {
  /** Folders of sources; one folder is left to its workloads by every source around it. */
  readonly folders: ReadonlySet<string>;
  /** What stands in a folder's source but is not of it, beside manifests: sources within, and files that were manifests. */
  taken(folder: string): readonly string[];
}

/**
 * @param files all YAML files
 * @param formerManifests files that held objects and no longer look like manifests
 * @param heldBefore `refText` of the objects that a file held at the last applied revision
 */
export function divideSources(
  files: readonly YamlFile[],
  formerManifests: readonly string[],
  heldBefore: ReadonlyMap<string, readonly string[]>,
): SourceFolders {
  const folders = new Set<string>();
  for (const file of files) {
    let hasSource = false;
    for (const { sourceFolder } of file.definitions) {
      if (sourceFolder === undefined) continue;
      folders.add(sourceFolder);
      hasSource = true;
    }
    // A workload that does not parse keeps its folder, else the source around it would swallow the code.
    if (!hasSource && file.diagnostics.length > 0 && heldWorkload(file, heldBefore)) folders.add(parentOf(file.file)!);
  }
  const within = new Map<string, string[]>();
  for (const path of [...folders, ...formerManifests]) {
    for (let around = parentOf(path); around !== undefined; around = parentOf(around)) {
      if (!folders.has(around)) continue;
      const list = within.get(around);
      if (list) list.push(path);
      else within.set(around, [path]);
    }
  }
  return { folders, taken: (folder) => within.get(folder) ?? [] };
}

function heldWorkload({ file, named }: YamlFile, heldBefore: ReadonlyMap<string, readonly string[]>): boolean {
  return WORKLOAD_FILES.has(basename(file)) || [...named, ...(heldBefore.get(file) ?? [])].some(isWorkloadRefText);
}
