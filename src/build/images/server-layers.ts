import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Runtime } from "../../runtimes/index.ts";
import { type Layer, type LayerEntry, makeLayer } from "../layer/index.ts";
import { IMAGE_PATHS, namesServer } from "../plan/index.ts";

/** What every function of a runtime has: its server, its image files, and the folders for code and dependencies. */
export interface ServerLayers {
  of(runtime: Runtime): Promise<Layer>;
}

export function openServerLayers(): ServerLayers {
  const layers = new Map<string, Promise<Layer>>();
  return {
    of(runtime) {
      const id = `${runtime.name} ${runtime.digest}`;
      const known = layers.get(id);
      if (known) return known;
      const making = serverEntries(runtime).then(makeLayer);
      layers.set(id, making);
      making.catch(() => layers.delete(id));
      return making;
    },
  };
}

async function serverEntries(runtime: Runtime): Promise<LayerEntry[]> {
  const { start, imageFiles = {} } = runtime;
  const needsServer = namesServer([...start.command, ...Object.values(start.env)]);
  const beside = Object.entries(imageFiles).map(([name, text]) => ({
    path: inLayer(`${IMAGE_PATHS.out}/${name}`),
    content: new TextEncoder().encode(text),
  }));
  const folders = [IMAGE_PATHS.source, IMAGE_PATHS.deps].map((path) => ({
    path: inLayer(path),
    folder: true as const,
  }));
  const server = needsServer ? await serverFiles(runtime.folder, inLayer(IMAGE_PATHS.runtime)) : [];
  return [...folders, ...beside, ...server];
}

/** The runtime's own files below a folder of a layer or a context. */
export async function serverFiles(folder: string, below: string): Promise<LayerEntry[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter(isShipped)
    .sort();
  return Promise.all(
    paths.map(async (path): Promise<LayerEntry> => {
      const at = join(folder, path);
      const executable = ((await stat(at)).mode & 0o100) !== 0;
      return { path: `${below}/${path.split(sep).join("/")}`, content: await readFile(at), executable };
    }),
  );
}

/** Caches of interpreters and what makes images of the runtime by hand stay behind. */
function isShipped(path: string): boolean {
  return path.split(sep).every((part) => part !== "__pycache__" && part !== "Dockerfile" && !part.startsWith("."));
}

/** A path of an image as layers write it. */
export function inLayer(path: string): string {
  return path.slice(1);
}
