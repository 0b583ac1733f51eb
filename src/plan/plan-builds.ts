import { refOf, refText } from "../apis/index.ts";
import type { Action, Plan } from "./action.ts";
import { type BuiltBefore, type Program, programOf, type SourceNeed } from "./built-before.ts";
import type { DesiredObject } from "./desired-state.ts";
import type { PlannedBuild, PlannedBuilds } from "./planned-build.ts";

export interface BuildsRequest {
  readonly plan: Plan;
  /** undefined for objects without a source. */
  readonly needOf: (desired: DesiredObject) => SourceNeed | undefined;
  /** What is taken to be made. */
  readonly before: readonly BuiltBefore[];
}

/**
 * What is built once a plan is applied. It knows no registry: an image that happens to be there (of an earlier revision,
 * of the same source elsewhere) is taken instead. Pure.
 */
export function planBuilds({ plan, needOf, before }: BuildsRequest): PlannedBuilds {
  const byRef = new Map(before.map((built) => [built.ref, built]));
  const installed = new Map<string, string>();
  for (const built of before)
    if (hasDependencies(built)) installed.set(installedKey(built.runtime, built.dependenciesId!), built.ref);
  const builds = new Map<string, PlannedBuild>();
  for (const action of plan.actions) {
    const desired = wantedBy(action);
    const need = desired && needOf(desired);
    if (!need) continue;
    const ref = refText(refOf(desired.intent));
    builds.set(
      ref,
      buildOf(
        programOf(desired.intent.spec, desired.source?.digest),
        need,
        action.kind === "wait" ? undefined : byRef.get(ref),
        installed,
      ),
    );
  }
  return builds;
}

/** What an action brings into being, now or, when it waits, later. */
export function wantedBy(action: Action): DesiredObject | undefined {
  const { kind } = action;
  return kind === "create" || kind === "update" || kind === "adopt" || kind === "wait" ? action.desired : undefined;
}

function buildOf(
  wanted: Program,
  need: SourceNeed,
  before: BuiltBefore | undefined,
  installed: ReadonlyMap<string, string>,
): PlannedBuild {
  const { kind, why } = need;
  if (kind === "unknown") return { kind, reason: why };
  if (before && isSameImage(wanted, need, before))
    return before.image === undefined
      ? { kind, reason: `${why}, unless its image exists already` }
      : { kind: "none", reason: before.image };
  if (kind === "full") return { kind, reason: why };
  const other =
    before && before.runtime !== wanted.runtime ? `runtime ${before.runtime} → ${wanted.runtime}` : undefined;
  if (kind === "append") return { kind, reason: other ?? appendReason(need, before) };
  const key = installedKey(wanted.runtime, need.dependenciesId);
  if (before && hasDependencies(before) && installedKey(before.runtime, before.dependenciesId!) === key)
    return { kind: "append", reason: CODE_ALONE };
  const sharer = installed.get(key);
  if (sharer !== undefined) return { kind: "append", reason: `its dependencies are those of ${sharer}` };
  return { kind, reason: other ?? depsReason(need, before) };
}

const CODE_ALONE = "only code changed";

/** What `imageKey` of the builder is made of, as far as a plan can see. */
function isSameImage(wanted: Program, { isCompiled }: SourceNeed, before: BuiltBefore): boolean {
  return (
    before.digest === wanted.digest &&
    before.runtime === wanted.runtime &&
    (!isCompiled || before.entrypoint === wanted.entrypoint)
  );
}

function hasDependencies({ image, dependenciesId, need }: BuiltBefore): boolean {
  return image !== undefined && dependenciesId !== undefined && (need?.kind ?? "deps") === "deps";
}

function installedKey(runtime: string, dependenciesId: string): string {
  return `${runtime} ${dependenciesId}`;
}

function appendReason({ why, dependenciesId }: SourceNeed, before: BuiltBefore | undefined): string {
  return before?.dependenciesId === dependenciesId ? CODE_ALONE : why;
}

function depsReason({ why, dependencies, dependenciesId }: SourceNeed, before: BuiltBefore | undefined): string {
  const names = dependencies.map(({ name }) => name);
  if (!before) return `${listed(names)} new`;
  if (before.need) return changedFiles(dependencies, before.need.dependencies) || why;
  if (before.dependenciesId === undefined || before.dependenciesId === dependenciesId)
    return `${why}, unless they are installed already`;
  return `dependencies changed (${names.join(", ")})`;
}

type Files = SourceNeed["dependencies"];

/** `package.json changed, package-lock.json is new`. */
function changedFiles(after: Files, before: Files): string {
  const same = (one: Files[number]) => (other: Files[number]) =>
    one.name === other.name && one.id === other.id && one.isExecutable === other.isExecutable;
  const had = new Set(before.map(({ name }) => name));
  const has = new Set(after.map(({ name }) => name));
  const different = after.filter((file) => !before.some(same(file)));
  const changed = different.filter(({ name }) => had.has(name)).map(({ name }) => name);
  const added = different.filter(({ name }) => !had.has(name)).map(({ name }) => name);
  const gone = before.filter(({ name }) => !has.has(name)).map(({ name }) => name);
  return [
    changed.length > 0 ? `${changed.join(" and ")} changed` : "",
    added.length > 0 ? `${listed(added)} new` : "",
    gone.length > 0 ? `${listed(gone)} gone` : "",
  ]
    .filter((text) => text !== "")
    .join(", ");
}

/** `a.txt and b.txt are`. */
function listed(names: readonly string[]): string {
  return `${names.join(" and ")} ${names.length === 1 ? "is" : "are"}`;
}
