import type { BuildRequest } from "../builder.ts";
import type { LayerEntry } from "../layer/index.ts";
import type { SourceDeps } from "../open-source.ts";
import { CONTEXT_FOLDERS, type DependencyFile, type JobPlan } from "../plan/index.ts";
import { serverFiles } from "./server-layers.ts";
import { entriesBelow, readSource } from "./source-files.ts";

/** What stands beside a Dockerfile. The source is read from the store when it is asked for: a job may wait long. */
export async function* contextFiles(
  request: Pick<BuildRequest, "sourceKey" | "sourceDigest" | "runtime">,
  context: JobPlan["context"],
  dependencies: readonly DependencyFile[],
  deps: SourceDeps,
  signal: AbortSignal,
): AsyncGenerator<LayerEntry> {
  if (context.dependencies) {
    for (const { name, content, isExecutable } of dependencies)
      yield { path: `${CONTEXT_FOLDERS.dependencies}/${name}`, content, executable: isExecutable };
  }
  if (context.runtime) yield* await serverFiles(request.runtime.folder, CONTEXT_FOLDERS.runtime);
  if (context.source) {
    const source = await readSource(request, deps, signal);
    try {
      yield* await entriesBelow(CONTEXT_FOLDERS.source, source.files);
    } finally {
      await source.close();
    }
  }
}
