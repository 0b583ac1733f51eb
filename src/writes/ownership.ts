import { ANNOTATIONS, type AnyObject, type Kind, refOf, refText } from "../apis/index.ts";
import { type OwningPlace, RefusedRequest } from "./refused-request.ts";

/** The field of a kind that belongs to scale and PATCH while the manifest leaves it out (design §2). */
const LEFT_TO_PATCH: Readonly<Record<Kind, string | undefined>> = {
  Function: "replicas",
  Service: "replicas",
  Trigger: "enabled",
  FunctionJob: undefined,
  Repository: undefined,
};

/**
 * A merge that touches these fields of the spec leaves alone what the repository says: all of them belong to PATCH, and
 * the manifest does not write them.
 *
 * @param appliedBySync fields of the spec that sync applied
 */
export function isLeftToPatch(kind: Kind, touched: readonly string[], appliedBySync: readonly string[]): boolean {
  return touched.every((field) => field === LEFT_TO_PATCH[kind] && !appliedBySync.includes(field));
}

/** Where a manifest stands in its repository. */
export interface ManifestPlace {
  readonly file: string;
  readonly line?: number;
}

/** The refusal of a write to an object of a repository, told with the manifest that is to be changed instead. */
export function ownedRefusal(object: AnyObject, repository: string, place: ManifestPlace | undefined): RefusedRequest {
  const file = place?.file ?? object.metadata.annotations?.[ANNOTATIONS.path];
  const line = place?.line;
  const owning: OwningPlace = {
    repository,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
  };
  const path = file === undefined ? "its file is not known" : line === undefined ? file : `${file}:${line}`;
  return new RefusedRequest("owned_by_repository", { what: refText(refOf(object)), repository, path }, [owning]);
}
