import { isDeepStrictEqual } from "node:util";
import { type Definitions, type PlacedDefinition, readDefinitions } from "../desired/index.ts";
import { sourceDigest } from "../source/index.ts";
import { digestOf } from "./fetched-source.ts";
import { contains, type FolderFile, folderTree, splitPath } from "./folder-files.ts";
import type { Place } from "./new-places.ts";
import type { Outcome, PullPlan } from "./plan-pull.ts";
import type { FolderState } from "./pull-request.ts";
import type { Skip } from "./stand-objects.ts";

/** How the definitions of a folder are read; not its files. */
export interface ReadingOptions {
  readonly namespace: string;
  readonly runtimes: ReadonlySet<string>;
}

/** Sources are measured by what the server took, not by this machine's limits. */
const NO_LIMITS = { maxSourceBytes: 2 ** 40, maxSourceFiles: 1_000_000 };

export function readFiles(
  files: ReadonlyMap<string, FolderFile>,
  scope: string,
  options: ReadingOptions,
): Promise<Definitions> {
  return readDefinitions({ ...folderTree(files), path: scope, ...options, limits: NO_LIMITS });
}

/**
 * Reads the folder as a plan would leave it, by the rules of syncs: every object must come out as the server has it, and
 * what the plan does not speak of as before. Answers the objects that would not, and why; a plan without them is to be
 * made then.
 */
export async function checkOutcome(
  plan: PullPlan,
  folder: FolderState,
  options: ReadingOptions,
): Promise<Map<string, Skip>> {
  const files = new Map(folder.files);
  for (const { path, file } of plan.changes) {
    if (file) files.set(path, file);
    else files.delete(path);
  }
  for (const { source } of plan.outcome.values()) {
    for (const [path, file] of source?.files ?? []) files.set(path, file);
    for (const path of source?.kept ?? []) files.delete(path);
  }
  const after = await readFiles(files, folder.scope, options);
  const refused = new Map<string, Skip>();
  for (const [key, outcome] of plan.outcome) {
    const reason = faultOf(key, outcome, after);
    if (reason !== undefined) refused.set(key, { reason, isFault: true });
  }
  if (refused.size > 0) return refused;
  // Whoever shares such a folder has the same source on the server, or the plan would leave it alone.
  const changed = new Set(
    [...plan.outcome.values()].filter(({ source }) => source).map(({ place }) => place.sourceFolder),
  );
  for (const [key, definition] of folder.definitions.objects) {
    if (plan.outcome.has(key) || changed.has(definition.sourceFolder)) continue;
    if (isAsBefore(definition, after.objects.get(key))) continue;
    const reason = `would change what ${definition.object.file} says of ${key}`;
    for (const guilty of near(definition, plan.outcome)) refused.set(guilty, { reason, isFault: true });
  }
  return refused;
}

function faultOf(key: string, { candidate, source }: Outcome, after: Definitions): string | undefined {
  const definition = after.objects.get(key);
  if (!candidate) return definition || after.blocked.has(key) ? "cannot be removed from its file" : undefined;
  const blocked = after.blocked.get(key);
  if (blocked) return `would not be valid in ${blocked.file}: ${blocked.message}`;
  if (!definition) {
    const fault = after.faulty.values().next().value;
    return `would not be read from its file${fault ? `: ${fault.message}` : ""}`;
  }
  if (!isDeepStrictEqual(definition.object.intent, candidate.intent)) return "cannot be written as a manifest";
  return source && sourceFaultOf(definition, source.files);
}

function sourceFaultOf(definition: PlacedDefinition, wanted: ReadonlyMap<string, FolderFile>): string | undefined {
  const folder = definition.sourceFolder ?? "";
  const inSource = new Map(
    [...wanted].map(([path, file]) => [folder === "" ? path : path.slice(folder.length + 1), file]),
  );
  if (sourceDigest(definition.sourceFiles) === digestOf(inSource)) return undefined;
  const present = new Set(definition.sourceFiles.map(({ path }) => path));
  const missing = [...inSource.keys()].find((path) => !present.has(path));
  if (missing !== undefined)
    return `its source would lack ${missing} here, which an ignore file, a manifest or another function takes out`;
  const extra = definition.sourceFiles.find(({ path }) => !inSource.has(path));
  return `its source would hold ${extra?.path ?? "other files"} here, which the server does not have`;
}

function isAsBefore(before: PlacedDefinition, after: PlacedDefinition | undefined): boolean {
  return (
    after !== undefined &&
    before.object.file === after.object.file &&
    isDeepStrictEqual(before.object.intent, after.object.intent) &&
    before.sourceFolder === after.sourceFolder &&
    isDeepStrictEqual(before.sourceFiles, after.sourceFiles)
  );
}

/** Those of the plan whose files stand around or within the definition's; all of them when none does. */
function near({ object, sourceFolder }: PlacedDefinition, outcome: ReadonlyMap<string, Outcome>): string[] {
  const own = foldersOf({ file: object.file, sourceFolder });
  const touches = (place: Place) =>
    foldersOf(place).some((folder) => own.some((other) => contains(folder, other) || contains(other, folder)));
  const guilty = [...outcome].filter(([, { place }]) => touches(place)).map(([key]) => key);
  return guilty.length > 0 ? guilty : [...outcome.keys()];
}

function foldersOf({ file, sourceFolder }: Place): string[] {
  const [folder] = splitPath(file);
  return sourceFolder === undefined ? [folder] : [folder, sourceFolder];
}
