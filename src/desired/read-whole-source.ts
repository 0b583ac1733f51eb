import { refText, type WorkloadRef } from "../apis/index.ts";
import type { DesiredSource } from "../plan/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import type { GitObjects, ObjectId } from "../source/index.ts";
import type { Fault } from "./fault.ts";
import { missingHandler } from "./handler-file.ts";
import { createIgnoreFiles } from "./ignore-files.ts";
import { NOTHING_KNOWN } from "./known-objects.ts";
import { createLayouts } from "./layout.ts";
import { DEFAULT_LIMITS, type DesiredLimits } from "./limits.ts";
import { createManifestFiles } from "./manifest-files.ts";
import { contains } from "./paths.ts";
import { createSources, desiredSource, hasFile } from "./sources.ts";
import { createTreeReader } from "./tree-reader.ts";

/** A tree that holds the source of one workload, whose manifest need not be in it. */
export interface WholeSourceRequest {
  readonly workload: WorkloadRef;
  readonly git: GitObjects;
  readonly tree: ObjectId;
  readonly runtime: Runtime;
  readonly entrypoint: string | undefined;
  /** Of the server; a manifest with another runtime is faulty. */
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly limits?: Partial<DesiredLimits>;
}

/** With a fault, the source cannot be deployed. */
export interface WholeSource {
  readonly source: DesiredSource;
  readonly faults: readonly Fault[];
  /** Why the entry point has no file in it, in words; undefined when it has one. */
  readonly missing: string | undefined;
}

/**
 * What of a tree is the source of a workload, by the rules of a repository: less manifests, less what ignore files name,
 * less folders that hold the source of another workload. It is all of the tree, unless a manifest of this very workload
 * in it names a folder.
 *
 * @throws SlessError `repository_too_large`, and those of `git`
 */
export async function readWholeSource(request: WholeSourceRequest): Promise<WholeSource> {
  const { git, tree, workload, runtime, entrypoint, runtimes } = request;
  const limits = { ...DEFAULT_LIMITS, ...request.limits };
  const walk = await createTreeReader(git, limits).read({ tree, revision: "" }, "", "");
  const context = { git, namespace: workload.namespace, runtimes, limits };
  const { divided, manifests, definitions } = createLayouts()(
    await createManifestFiles(context).read(walk),
    NOTHING_KNOWN,
  );
  const ignore = await createIgnoreFiles(git).read(walk);
  const own = definitions.find(({ ref }) => ref === refText(workload))?.sourceFolder;
  const root = own !== undefined && walk.folders.some(({ path }) => path === own) ? own : "";
  const taken = [...divided.folders].filter((folder) => folder !== root && contains(root, folder));
  const layout = { divided: { folders: new Set([root]), taken: () => taken }, manifests };
  const source = (await createSources(git, limits).read({ ...walk, layout, ignore }))(root)!;
  return {
    source: desiredSource(source, runtime),
    faults: source.faults,
    missing: missingHandler(entrypoint, runtime, (path) => hasFile(source, path)),
  };
}
