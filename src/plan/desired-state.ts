import type { Diagnostic, ObjectIntent, ObjectRef } from "../apis/index.ts";

/** A file of a workload's source; `path` is relative to the source, `id` the Git blob. */
export interface SourceFile {
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000";
  readonly id: string;
}

export interface DesiredSource {
  /** sha256 over the sorted (path, mode, blob id) of all files: names the archive (design §3). */
  readonly digest: string;
  /** The same over the runtime's dependency files alone; tells a change of dependencies from one of code. */
  readonly dependenciesDigest: string;
  /** Names of the runtime's dependency files, there or not; with them code that changes beside dependencies is told too. */
  readonly dependencyFiles?: readonly string[];
  readonly files: readonly SourceFile[];
  /** Of all files together; undefined = not known. */
  readonly bytes?: number;
}

/** An object that a revision of a repository wants. */
export interface DesiredObject {
  /** As the manifest writes it: no defaults, namespace filled in. */
  readonly intent: ObjectIntent;
  /** Path of the manifest below the repository's root. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Of workloads with code of their own. */
  readonly source?: DesiredSource;
}

/** All that a revision wants, and all that is wrong with it. */
export interface DesiredState {
  /** `main@sha1:<hex>`. */
  readonly revision: string;
  /**
   * One per kind, namespace and name, and no Function beside a Service of the same name: what stands twice is
   * `blocked` (see `nameClashes`). Unchanged objects should be the same JavaScript object from one revision to
   * the next: planners remember by identity what they have compared.
   */
  readonly objects: readonly DesiredObject[];
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Objects that stand in faulty files, are defined twice, or whose source is faulty: they are neither written nor
   * deleted. Keys are `refText`.
   */
  readonly blocked: ReadonlySet<string>;
  /** A manifest file does not parse or is invalid: nothing may be pruned, for what it holds is not known. */
  readonly blocksPruning: boolean;
}

export type { ObjectRef };
