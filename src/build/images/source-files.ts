import { posix } from "node:path";
import type { StoredFile } from "../../source/index.ts";
import type { BuildRequest } from "../builder.ts";
import type { LayerEntry } from "../layer/index.ts";
import { openSource, type SourceDeps } from "../open-source.ts";
import type { DependencyFile } from "../plan/index.ts";

/** The files of a source, which are read when they are asked for, until it is closed. */
export interface SourceFiles {
  readonly files: readonly StoredFile[];
  /** Is there a file, link or folder at this path? */
  has(path: string): boolean;
  /** Those of the names that the root has, also where they are links to other files of the source; in memory. */
  dependencies(names: readonly string[]): Promise<DependencyFile[]>;
  close(): Promise<void>;
}

/** @throws what `openSource` throws */
export async function readSource(
  request: Pick<BuildRequest, "sourceKey" | "sourceDigest">,
  deps: SourceDeps,
  signal: AbortSignal,
): Promise<SourceFiles> {
  const { files, close } = await openSource(request, deps, signal);
  const byPath = new Map(files.map((file) => [file.path, file]));
  const folders = new Set(files.flatMap(({ path }) => parentsOf(path)));
  return {
    files,
    has: (path) => byPath.has(posix.normalize(path)) || folders.has(posix.normalize(path)),
    async dependencies(names) {
      const found: DependencyFile[] = [];
      for (const name of names) {
        const file = await followLinks(name, byPath);
        if (file) found.push({ name, isExecutable: file.mode === "100755", content: await file.read() });
      }
      return found;
    },
    close,
  };
}

/** The files as they stand in an image or a context below a folder; they are read when their turn comes. */
export function entriesBelow(folder: string, files: readonly StoredFile[]): Promise<LayerEntry[]> {
  return Promise.all(
    files.map(async ({ path, mode, size, read, stream }): Promise<LayerEntry> => {
      if (mode === "120000") return { path: `${folder}/${path}`, target: Buffer.from(await read()).toString("utf8") };
      return { path: `${folder}/${path}`, size, stream, executable: mode === "100755" };
    }),
  );
}

const LINKS_MAX = 8;

async function followLinks(path: string, files: ReadonlyMap<string, StoredFile>): Promise<StoredFile | undefined> {
  let at = path;
  for (let links = 0; links <= LINKS_MAX; links += 1) {
    const file = files.get(at);
    if (file?.mode !== "120000") return file;
    at = posix.join(posix.dirname(at), Buffer.from(await file.read()).toString("utf8"));
  }
  return undefined;
}

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) parents.push(path.slice(0, end));
  return parents;
}
