import { posix } from "node:path";
import { type ArchiveFile, type ArchiveLimits, readArchive } from "../../source/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import { BuildFault } from "../build-fault.ts";
import type { BuildRequest } from "../builder.ts";
import type { LayerEntry } from "../layer/index.ts";
import type { DependencyFile } from "../plan/index.ts";

/** The files of a source, in memory. */
export interface SourceFiles {
  readonly files: readonly ArchiveFile[];
  /** Is there a file, link or folder at this path? */
  has(path: string): boolean;
  /** Those of the names that the root has, also where they are links to other files of the source. */
  dependencies(names: readonly string[]): DependencyFile[];
}

/** @throws BuildFault `source_unavailable`; SlessError of the object store and the archive */
export async function readSource(
  { sourceKey }: Pick<BuildRequest, "sourceKey">,
  objects: Pick<ObjectStore, "get">,
  limits: ArchiveLimits,
): Promise<SourceFiles> {
  const bytes = await objects.get(sourceKey);
  if (!bytes) throw new BuildFault("source_unavailable", { key: sourceKey, cause: "it is not there" });
  const files = await readArchive(bytes, limits);
  const byPath = new Map(files.map((file) => [file.path, file]));
  const folders = new Set(files.flatMap(({ path }) => parentsOf(path)));
  return {
    files,
    has: (path) => byPath.has(posix.normalize(path)) || folders.has(posix.normalize(path)),
    dependencies: (names) =>
      names.flatMap((name) => {
        const file = followLinks(name, byPath);
        return file ? [{ name, isExecutable: file.mode === "100755", content: file.content }] : [];
      }),
  };
}

/** The files as they stand in an image or a context below a folder. */
export function entriesBelow(folder: string, files: readonly ArchiveFile[]): LayerEntry[] {
  return files.map(({ path, mode, content }) =>
    mode === "120000"
      ? { path: `${folder}/${path}`, target: Buffer.from(content).toString("utf8") }
      : { path: `${folder}/${path}`, content, executable: mode === "100755" },
  );
}

const LINKS_MAX = 8;

function followLinks(path: string, files: ReadonlyMap<string, ArchiveFile>): ArchiveFile | undefined {
  let at = path;
  for (let links = 0; links <= LINKS_MAX; links += 1) {
    const file = files.get(at);
    if (file?.mode !== "120000") return file;
    at = posix.join(posix.dirname(at), Buffer.from(file.content).toString("utf8"));
  }
  return undefined;
}

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) parents.push(path.slice(0, end));
  return parents;
}
