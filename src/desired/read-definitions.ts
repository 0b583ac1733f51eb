import type { Diagnostic } from "../apis/index.ts";
import type { DesiredObject, SourceFile } from "../plan/index.ts";
import type { GitObjects, ObjectId } from "../source/index.ts";
import { createIgnoreFiles } from "./ignore-files.ts";
import { NOTHING_KNOWN } from "./known-objects.ts";
import { createLayouts, type Layout } from "./layout.ts";
import { DEFAULT_LIMITS, type DesiredLimits } from "./limits.ts";
import { createManifestFiles, type ManifestContext } from "./manifest-files.ts";
import { createSources } from "./sources.ts";
import { createTreeReader } from "./tree-reader.ts";

/** A tree that somebody is about to change. */
export interface DefinitionsRequest {
  readonly git: GitObjects;
  readonly tree: ObjectId;
  /** Folder below the root that is looked into; "" = all. */
  readonly path: string;
  readonly namespace: string;
  /** Names of the runtimes that a manifest may name. */
  readonly runtimes: ReadonlySet<string>;
  readonly limits?: Partial<DesiredLimits>;
}

/** An object as a manifest writes it, with the files that are its source. */
export interface PlacedDefinition {
  /** Without a source, also when it has one. */
  readonly object: DesiredObject;
  /** Of objects with code of their own: the folder of their source below the root, there or not. */
  readonly sourceFolder: string | undefined;
  /** Files of that folder that are the source, faulty ones too; paths are relative to it. */
  readonly sourceFiles: readonly SourceFile[];
}

/** What a tree defines, faulty sources included: who mends a folder must see what is wrong in it. */
export interface Definitions {
  /** By `refText`; none of those in `blocked`. */
  readonly objects: ReadonlyMap<string, PlacedDefinition>;
  /** Why an object that stands there can be neither read nor changed: by `refText`. */
  readonly blocked: ReadonlyMap<string, Diagnostic>;
  /** Files of ours that are not valid: what they define is not fully known. */
  readonly faulty: ReadonlyMap<string, Diagnostic>;
  /** Paths of all files of ours. */
  readonly manifests: ReadonlySet<string>;
}

/** @throws SlessError `path_not_found`, `repository_too_large`, and those of `git` */
export async function readDefinitions(request: DefinitionsRequest): Promise<Definitions> {
  const { git, tree, path, namespace } = request;
  const limits: DesiredLimits = { ...DEFAULT_LIMITS, ...request.limits };
  const walk = await createTreeReader(git, limits).read({ tree, revision: "" }, path, path);
  // Only the names of the runtimes are read for manifests.
  const runtimes = new Map([...request.runtimes].map((name) => [name, undefined])) as unknown;
  const context = { git, namespace, limits, runtimes: runtimes as ManifestContext["runtimes"] };
  const layout = createLayouts()(await createManifestFiles(context).read(walk), NOTHING_KNOWN);
  const ignore = await createIgnoreFiles(git).read(walk);
  const sourceAt = await createSources(git, limits).read({ ...walk, layout, ignore });
  const blocked = blockedIn(layout);
  const objects = new Map<string, PlacedDefinition>();
  for (const { ref, object, sourceFolder } of layout.definitions) {
    if (blocked.has(ref)) continue;
    const sourceFiles = (sourceFolder !== undefined && sourceAt(sourceFolder)?.files) || [];
    objects.set(ref, { object, sourceFolder, sourceFiles });
  }
  const faulty = new Map(layout.faulty.map(({ file, diagnostics }) => [file, diagnostics[0]!]));
  return { objects, blocked, faulty, manifests: layout.manifests };
}

function blockedIn({ faulty, clashes, definitions }: Layout): Map<string, Diagnostic> {
  const blocked = new Map<string, Diagnostic>();
  for (const { named, definitions: sound, diagnostics } of faulty) {
    for (const ref of [...named, ...sound.map(({ ref }) => ref)]) blocked.set(ref, diagnostics[0]!);
  }
  for (const { ref, object } of definitions) {
    if (!clashes.blocked.has(ref)) continue;
    const clash = clashes.diagnostics.find(({ file, line }) => file === object.file && line === object.line);
    if (clash) blocked.set(ref, clash);
  }
  return blocked;
}
