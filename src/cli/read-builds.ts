import { type Diagnostic, refOf, refText } from "../apis/index.ts";
import { DECIDING_FILES, decideBuild, dependencyFault } from "../build/plan/index.ts";
import { type DependencyFileRead, readDependencyFiles } from "../desired/index.ts";
import { SlessError } from "../errors/index.ts";
import {
  type BuiltBefore,
  builtOfRevision,
  type DesiredObject,
  type Plan,
  type PlannedBuilds,
  planBuilds,
  type SourceNeed,
  wantedBy,
} from "../plan/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import type { GitObjects } from "../source/index.ts";

export interface BuildsRead {
  readonly builds: PlannedBuilds;
  /** Dependency files of what changes that cannot be read: what it builds will fail. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface BuildsWanted {
  readonly plan: Plan;
  /** Has the sources of the plan, and those of `base`. */
  readonly git: GitObjects;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  /** What the plan starts from: objects of a revision, or what runs. */
  readonly before: { readonly base: readonly DesiredObject[] } | { readonly live: readonly BuiltBefore[] };
}

/**
 * How the images of what a plan changes come to be, decided as the builder does. Only the dependency files of what
 * changes are read, and of what of the base may have the same.
 *
 * @throws SlessError those of `git`
 */
export async function readBuilds({ plan, git, runtimes, before }: BuildsWanted): Promise<BuildsRead> {
  const wanted = plan.actions.map(wantedBy).filter((object) => object?.source !== undefined) as DesiredObject[];
  const related = "base" in before ? relatedTo(wanted, before.base) : [];
  const files = await readDependencyFiles(git, [...wanted, ...related], DECIDING_FILES);
  const idOf = "base" in before ? contentId : notedId;
  const needs = new Map([...files].map(([object, read]) => [object, needOfSource(object, read, runtimes, idOf)]));
  const needOf = (object: DesiredObject) => needs.get(object);
  const built = "live" in before ? before.live : related.map((object) => builtOfRevision(object, needOf(object)));
  const builds = planBuilds({ plan, needOf, before: built });
  return { builds, diagnostics: uniqueFaults(wanted.flatMap((object) => faultsOf(files.get(object) ?? []))) };
}

/** The objects of a base that are wanted otherwise now, and those that may have the dependencies that somebody wants now. */
function relatedTo(wanted: readonly DesiredObject[], base: readonly DesiredObject[]): DesiredObject[] {
  const refs = new Set(wanted.map(({ intent }) => refText(refOf(intent))));
  const dependencies = new Set(wanted.map(({ source }) => source?.dependenciesDigest));
  // What a link leads to is not in the digest.
  const anyLinked = wanted.some(hasLinkedDependency);
  return base.filter(
    (object) =>
      anyLinked ||
      refs.has(refText(refOf(object.intent))) ||
      dependencies.has(object.source?.dependenciesDigest) ||
      hasLinkedDependency(object),
  );
}

function hasLinkedDependency({ source }: DesiredObject): boolean {
  const names = source?.dependencyFiles ?? [];
  return source?.files.some(({ path, mode }) => mode === "120000" && names.includes(path)) ?? false;
}

type IdOf = (digest: string, files: readonly DependencyFileRead[]) => string;

function needOfSource(
  { intent, source }: DesiredObject,
  files: readonly DependencyFileRead[],
  runtimes: ReadonlyMap<string, Runtime>,
  idOf: IdOf,
): SourceNeed | undefined {
  const runtime = runtimes.get((intent.spec as { runtime?: string }).runtime ?? "");
  if (!source || !runtime) return undefined;
  const hasFile = (path: string) => source.files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
  const decision: Pick<SourceNeed, "kind" | "why"> =
    unreadable(files) ?? decideBuild(runtime, { dependencies: files, hasFile });
  return {
    kind: decision.kind,
    why: decision.why,
    isCompiled: runtime.build !== undefined,
    dependencies: files.map(({ name, isExecutable, id }) => ({ name, isExecutable, id })),
    dependenciesId: idOf(source.dependenciesDigest, files),
  };
}

function contentId(_digest: string, files: readonly DependencyFileRead[]): string {
  return JSON.stringify(files.map(({ name, isExecutable, id }) => [name, isExecutable, id]));
}

/** The digest that a sync notes knows of a link where it points, and not what is there: no such digest is this. */
function notedId(digest: string, files: readonly DependencyFileRead[]): string {
  return files.some(({ isLinked }) => isLinked) ? contentId(digest, files) : digest;
}

function unreadable(files: readonly DependencyFileRead[]): { kind: "unknown"; why: string } | undefined {
  const file = files.find(({ name, content }) => dependencyFault(name, content) !== undefined);
  return file && { kind: "unknown", why: `${file.name} cannot be read` };
}

function faultsOf(files: readonly DependencyFileRead[]): Diagnostic[] {
  return files.flatMap(({ name, path, content }) => {
    const fault = dependencyFault(name, content);
    if (!fault) return [];
    const { line, column, cause } = fault;
    const code = "dependencies_unreadable";
    return [{ code, file: path, line, column, message: new SlessError(code, { file: name, cause }).message }];
  });
}

/** Several workloads may share a source. */
function uniqueFaults(faults: readonly Diagnostic[]): Diagnostic[] {
  return [...new Map(faults.map((fault) => [fault.file, fault])).values()];
}
