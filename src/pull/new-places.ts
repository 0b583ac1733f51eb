import { ANNOTATIONS, ownerUidOf, refText } from "../apis/index.ts";
import { isYamlName } from "../manifest/index.ts";
import { entryFaults } from "../source/index.ts";
import type { FetchedSources } from "./fetched-source.ts";
import { below, contains, plainPath, splitPath } from "./folder-files.ts";
import { freePlaces, isBehindFile } from "./free-place.ts";
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
/** Triggers come last: they go where their functions are. */
const KIND_ORDER = Object.keys(CONVENTIONS);

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
  const places = new Map<string, Place>();
  const present = candidates.filter((candidate) => candidate.present);
  for (const candidate of present) places.set(candidate.key, placed(candidate, candidate.present!.object.file));
  const findFree = freePlaces(request.folder);
  for (const candidate of candidates.filter((one) => !one.present).sort(byKindAndName)) {
    const { ref, intent, digest } = candidate;
    const { folder, manifest } = CONVENTIONS[ref.kind as keyof typeof CONVENTIONS];
    const fetched = digest === undefined ? undefined : sources.get(digest);
    const file =
      formerFile(candidate, request) ??
      fileOfFunction(candidate, places, request) ??
      findFree({
        home: below(request.folder.scope, `${folder}/${ref.name}`),
        manifest,
        sourceDir: sourceDirOf(intent.spec),
        source: fetched && "files" in fetched ? fetched.files : new Map(),
      });
    if (file !== undefined) places.set(candidate.key, placed(candidate, file));
  }
  return places;
}

function byKindAndName({ ref: a }: Candidate, { ref: b }: Candidate): number {
  return KIND_ORDER.indexOf(a.kind) - KIND_ORDER.indexOf(b.kind) || (a.name < b.name ? -1 : 1);
}

/** Where the repository had it when it was last synced. */
function formerFile({ live }: Candidate, { folder, repository }: PullRequest): string | undefined {
  const path = live.metadata.annotations?.[ANNOTATIONS.path];
  if (path === undefined || repository === undefined || ownerUidOf(live) !== repository) return undefined;
  const isFit = isYamlName(path) && contains(folder.scope, path) && entryFaults([{ path, kind: "file" }]).length === 0;
  if (!isFit || isBehindFile(path, folder)) return undefined;
  if (!folder.lookAt(path)) return path;
  const { manifests, faulty } = folder.definitions;
  return manifests.has(path) && !faulty.has(path) ? path : undefined;
}

function fileOfFunction(
  { ref, intent }: Candidate,
  places: ReadonlyMap<string, Place>,
  { folder }: PullRequest,
): string | undefined {
  const { functionRef } = intent.spec as { functionRef?: string };
  if (ref.kind !== "Trigger" || functionRef === undefined) return undefined;
  for (const kind of ["Function", "Service"] as const) {
    const key = refText({ kind, namespace: ref.namespace, name: functionRef });
    const file = places.get(key)?.file ?? folder.definitions.objects.get(key)?.object.file;
    if (file !== undefined) return file;
  }
  return undefined;
}

function placed({ digest, intent }: Candidate, file: string): Place {
  const sourceFolder = digest === undefined ? undefined : below(splitPath(file)[0], sourceDirOf(intent.spec));
  return { file, sourceFolder };
}

function sourceDirOf(spec: object): string {
  return plainPath((spec as { sourceDir?: string }).sourceDir);
}
