import type { Diagnostic } from "../apis/index.ts";
import type { DesiredObject } from "../plan/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { diagnosticOf, type Fault } from "./fault.ts";
import { missingHandler } from "./handler-file.ts";
import type { Definition } from "./manifest-files.ts";
import { desiredSource, hasFile, type Source } from "./sources.ts";

const NO_DIAGNOSTICS: readonly Diagnostic[] = [];

/** A definition with its source; without `object` when the source is faulty. */
export interface Workload {
  readonly definition: Definition;
  readonly object: DesiredObject | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Field of the spec that the diagnostics are about, while they are still told at the document's start. */
  readonly field?: "entrypoint" | "sourceDir";
}

/**
 * Joins definitions and sources. The same two give the same workload, so that planners may compare objects by identity.
 *
 * @param placed tells the diagnostics of workloads with a `field` at that field
 */
export function createWorkloads(
  runtimes: ReadonlyMap<string, Runtime>,
  placed: (workloads: readonly Workload[]) => Promise<readonly Workload[]>,
) {
  const known = new WeakMap<Definition, { source: Source | undefined; workload: Workload }>();

  /** In the order of the definitions. */
  async function join(
    definitions: readonly Definition[],
    sourceAt: (folder: string) => Source | undefined,
  ): Promise<Workload[]> {
    const sourceOf = ({ sourceFolder }: Definition) =>
      sourceFolder === undefined ? undefined : sourceAt(sourceFolder);
    const remember = (workload: Workload) =>
      known.set(workload.definition, { source: sourceOf(workload.definition), workload });
    const misplaced: Workload[] = [];
    for (const definition of definitions) {
      const source = sourceOf(definition);
      const before = known.get(definition);
      if (before && before.source === source) continue;
      const workload = workloadOf(definition, source, runtimes);
      if (workload.field === undefined) remember(workload);
      else misplaced.push(workload);
    }
    for (const workload of await placed(misplaced)) remember(workload);
    return definitions.map((definition) => known.get(definition)!.workload);
  }

  return { join };
}

function workloadOf(
  definition: Definition,
  source: Source | undefined,
  runtimes: ReadonlyMap<string, Runtime>,
): Workload {
  const { object, sourceFolder } = definition;
  if (sourceFolder === undefined) return { definition, object, diagnostics: NO_DIAGNOSTICS };
  if (!source) {
    const cause = `The source folder ${sourceFolder} does not exist`;
    return { ...refused(definition, [{ code: "source_missing", details: { cause } }]), field: "sourceDir" };
  }
  if (source.faults.length > 0) return refused(definition, source.faults);
  const { runtime: name, entrypoint } = object.intent.spec as { runtime: string; entrypoint?: string };
  // A manifest with an unknown runtime is faulty and does not come here.
  const runtime = runtimes.get(name)!;
  const cause = missingHandler(entrypoint, runtime, (path) => hasFile(source, path));
  if (!cause) {
    return { definition, object: { ...object, source: desiredSource(source, runtime) }, diagnostics: NO_DIAGNOSTICS };
  }
  return { ...refused(definition, [{ code: "source_missing", details: { cause } }]), field: "entrypoint" };
}

function refused(definition: Definition, faults: readonly Fault[]): Workload {
  return {
    definition,
    object: undefined,
    diagnostics: faults.map((fault) => diagnosticOf(fault, definition.object)),
  };
}
