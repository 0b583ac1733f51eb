import type { ArchiveLimits } from "../../source/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import type { BuildRequest } from "../builder.ts";
import type { LayerEntry } from "../layer/index.ts";
import { CONTEXT_FOLDERS, type DependencyFile, type JobPlan } from "../plan/index.ts";
import { serverFiles } from "./server-layers.ts";
import { entriesBelow, readSource } from "./source-files.ts";

/** What stands beside a Dockerfile. The source is read from the store when it is asked for: a job may wait long. */
export async function* contextFiles(
  request: Pick<BuildRequest, "sourceKey" | "runtime">,
  context: JobPlan["context"],
  dependencies: readonly DependencyFile[],
  { objects, limits }: { readonly objects: ObjectStore; readonly limits: ArchiveLimits },
): AsyncGenerator<LayerEntry> {
  if (context.dependencies) {
    for (const { name, content, isExecutable } of dependencies)
      yield { path: `${CONTEXT_FOLDERS.dependencies}/${name}`, content, executable: isExecutable };
  }
  if (context.runtime) yield* await serverFiles(request.runtime.folder, CONTEXT_FOLDERS.runtime);
  if (context.source) {
    const { files } = await readSource(request, objects, limits);
    yield* entriesBelow(CONTEXT_FOLDERS.source, files);
  }
}
