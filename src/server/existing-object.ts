import type { AnyObject, ObjectOf } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import { type ItemOf, PLURALS, type Plural } from "./items.ts";
import { type RepositoryNames, repositoryNames, toItem } from "./to-item.ts";

/** Parameters of the path of an object. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
}

interface Reads {
  readonly store: Pick<ResourceStore, "get" | "list">;
}

/** @throws SlessError `not_found` */
export async function existing<P extends Plural>(
  plural: P,
  { namespace, name }: Named,
  { store }: Reads,
): Promise<ObjectOf<(typeof PLURALS)[P]>> {
  const kind = PLURALS[plural];
  const object = await store.get(kind, { namespace, name });
  if (!object) throw new SlessError("not_found", { what: `${kind} ${namespace}/${name}` });
  return object;
}

export async function itemOf<P extends Plural>(
  plural: P,
  object: ObjectOf<(typeof PLURALS)[P]>,
  deps: Reads,
): Promise<ItemOf[P]> {
  return toItem(plural, object, await namesIn(object.metadata.namespace, deps));
}

export async function namesIn(namespace: string, { store }: Reads): Promise<RepositoryNames> {
  return repositoryNames((await store.list("Repository", { namespace })).items);
}

/** The object's version as an entity tag, for `If-Match`; a new status is a new version too. */
export function etagOf({ metadata }: Pick<AnyObject, "metadata">): string {
  return `"${metadata.resourceVersion}"`;
}

/** The versions that an `If-Match` header names; undefined when it is absent or `*`. */
export function versionsOf(ifMatch: string | undefined): string[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === "*") return undefined;
  return ifMatch.split(",").map((tag) => tag.trim().replace(/^"|"$/g, ""));
}
