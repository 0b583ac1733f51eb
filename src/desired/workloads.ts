import type { Diagnostic } from "../apis/index.ts";
import type { DesiredObject } from "../plan/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { carriedOver, type Made, NOTHING_MADE } from "./carried-over.ts";
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
  let known: Made<Definition, Joined> = NOTHING_MADE;

  /** In the order of the definitions. */
  async function join(
    definitions: readonly Definition[],
    sourceAt: (folder: string) => Source | undefined,
  ): Promise<Workload[]> {
    const misplaced = new Map<number, Workload>();
    const joined = carriedOver(known, definitions).map((before, index): Joined => {
      const definition = definitions[index]!;
      const source = definition.sourceFolder === undefined ? undefined : sourceAt(definition.sourceFolder);
      if (before && before.source === source) return before;
      const workload = workloadOf(definition, source, runtimes);
      if (workload.field !== undefined) misplaced.set(index, workload);
      return { source, workload };
    });
    const found = await placed([...misplaced.values()]);
    for (const [nth, index] of [...misplaced.keys()].entries())
      joined[index] = { source: joined[index]!.source, workload: found[nth]! };
    known = { items: definitions, values: joined };
    return joined.map(({ workload }) => workload);
  }

  return { join };
}

interface Joined {
  readonly source: Source | undefined;
  readonly workload: Workload;
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
