import { ANNOTATIONS, ownerUidOf, refText } from "../apis/index.ts";
import { isYamlName } from "../manifest/index.ts";
import { entryFaults } from "../source/index.ts";
import type { FetchedSources } from "./fetched-source.ts";
import { below, contains, type FolderFile, splitPath } from "./folder-files.ts";
import type { PullRequest } from "./pull-request.ts";
import type { Candidate } from "./stand-objects.ts";

/** Where an object stands, or is to. */
export interface Place {
  /** Manifest below the root. */
  readonly file: string;
  /** Of objects with code of their own. */
  readonly sourceFolder: string | undefined;
}

const CONVENTIONS = {
  Function: { folder: "functions", manifest: "function.yaml" },
  Service: { folder: "services", manifest: "service.yaml" },
  FunctionJob: { folder: "jobs", manifest: "job.yaml" },
  Trigger: { folder: "triggers", manifest: "trigger.yaml" },
} as const;
const KIND_ORDER = ["Function", "Service", "FunctionJob", "Trigger"];
/** Folders and file names that are tried when the first one is taken. */
const TRIES = 20;

/**
 * Places of all candidates: where they stand; else where their repository has them; else, by convention, a folder of
 * their own, triggers in the manifest of their function. No place is in the way of what is there. Of those that find no
 * place, nothing.
 */
export function placesOf(
  candidates: readonly Candidate[],
  sources: FetchedSources,
  request: PullRequest,
): Map<string, Place> {
  const ordered = [...candidates].sort(
    (a, b) => KIND_ORDER.indexOf(a.ref.kind) - KIND_ORDER.indexOf(b.ref.kind) || (a.ref.name < b.ref.name ? -1 : 1),
  );
  const finder = placeFinder(request, sources);
  for (const candidate of ordered) if (candidate.present) finder.stands(candidate);
  for (const candidate of ordered) if (!candidate.present) finder.place(candidate);
  return finder.places;
}

function placeFinder(request: PullRequest, sources: FetchedSources) {
  const { folder } = request;
  const { definitions } = folder;
  const places = new Map<string, Place>();
  /** Folders that objects got in this plan. */
  const given = new Set<string>();
  let sorted: readonly string[] | undefined;

  function stands(candidate: Candidate): void {
    places.set(candidate.key, placed(candidate, candidate.present!.object.file));
  }

  function place(candidate: Candidate): void {
    const file = formerFile(candidate) ?? fileOfFunction(candidate) ?? conventional(candidate);
    if (file !== undefined) places.set(candidate.key, placed(candidate, file));
  }

  /** Where the repository had it when it was last synced. */
  function formerFile({ live }: Candidate): string | undefined {
    const path = live.metadata.annotations?.[ANNOTATIONS.path];
    if (path === undefined || ownerUidOf(live) !== request.repository) return undefined;
    const isFit =
      isYamlName(path) && contains(folder.scope, path) && entryFaults([{ path, kind: "file" }]).length === 0;
    if (!isFit || isBehindFile(path)) return undefined;
    if (folder.files.has(path)) return isManifest(path) ? path : undefined;
    return folder.lookAt(path) ? undefined : path;
  }

  function isManifest(path: string): boolean {
    return definitions.manifests.has(path) && !definitions.faulty.has(path);
  }

  function fileOfFunction({ ref, intent }: Candidate): string | undefined {
    const { functionRef } = intent.spec as { functionRef?: string };
    if (ref.kind !== "Trigger" || functionRef === undefined) return undefined;
    for (const kind of ["Function", "Service"] as const) {
      const key = refText({ kind, namespace: ref.namespace, name: functionRef });
      const file = places.get(key)?.file ?? definitions.objects.get(key)?.object.file;
      if (file !== undefined) return file;
    }
    return undefined;
  }

  function conventional(candidate: Candidate): string | undefined {
    const { ref, intent, digest } = candidate;
    const { folder: parent, manifest } = CONVENTIONS[ref.kind as keyof typeof CONVENTIONS];
    const fetched = digest === undefined ? undefined : sources.get(digest);
    const source = fetched && "files" in fetched ? fetched.files : new Map<string, FolderFile>();
    for (let at = 1; at <= TRIES; at++) {
      const home = below(folder.scope, `${parent}/${at === 1 ? ref.name : `${ref.name}-${at}`}`);
      const sourceFolder = sourceFolderOf(below(home, manifest), intent.spec);
      if (given.has(home) || !isFree(home, sourceFolder, source)) continue;
      given.add(home);
      return freeName(home, manifest, sourceFolder, source);
    }
    return undefined;
  }

  /** Nothing is there, or nothing but a part of the source, as a pull leaves it that was cut short. */
  function isFree(home: string, sourceFolder: string, source: ReadonlyMap<string, FolderFile>): boolean {
    if (isBehindFile(`${home}/x`) || folder.lookAt(home)) return false;
    return pathsBelow(home).every((path) => {
      const wanted = contains(sourceFolder, path) ? source.get(path.slice(sourceFolder.length + 1)) : undefined;
      const file = folder.files.get(path)!;
      return wanted?.id === file.id && wanted.mode === file.mode;
    });
  }

  /** A file or a link stands where the path needs a folder. */
  function isBehindFile(path: string): boolean {
    for (let [above] = splitPath(path); above !== ""; [above] = splitPath(above))
      if (folder.files.has(above) || folder.lookAt(above)) return true;
    return false;
  }

  function pathsBelow(home: string): string[] {
    sorted ??= [...folder.files.keys()].sort();
    const prefix = `${home}/`;
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < prefix) low = middle + 1;
      else high = middle;
    }
    const found: string[] = [];
    for (let at = low; at < sorted.length && sorted[at]!.startsWith(prefix); at++) found.push(sorted[at]!);
    return found;
  }

  /** The source may hold a file of the manifest's name, in any case. */
  function freeName(
    home: string,
    manifest: string,
    sourceFolder: string,
    source: ReadonlyMap<string, FolderFile>,
  ): string | undefined {
    const taken = new Set([...source.keys()].map((path) => folded(below(sourceFolder, path))));
    const names = [manifest, "sless.yaml", ...Array.from({ length: TRIES }, (_, at) => `sless-${at + 2}.yaml`)];
    return names.map((name) => below(home, name)).find((path) => !taken.has(folded(path)) && !folder.lookAt(path));
  }

  return { places, stands, place };
}

function placed({ digest, intent }: Candidate, file: string): Place {
  return { file, sourceFolder: digest === undefined ? undefined : sourceFolderOf(file, intent.spec) };
}

/** What file systems without upper and lower case take for the same. */
function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function sourceFolderOf(file: string, spec: object): string {
  const { sourceDir = "" } = spec as { sourceDir?: string };
  const parts = sourceDir.split("/").filter((part) => part !== "" && part !== ".");
  return below(splitPath(file)[0], parts.join("/"));
}
