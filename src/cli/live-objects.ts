import { type AnyObject, type ObjectOf, REPOSITORY_CONTENT_KINDS } from "../apis/index.ts";
import { kindNamed } from "./kind-names.ts";
import type { VerbContext } from "./verb.ts";

/** All that a namespace has. */
export interface LiveObjects {
  readonly repositories: readonly ObjectOf<"Repository">[];
  /** Functions, Services, FunctionJobs and Triggers. */
  readonly objects: readonly AnyObject[];
}

/** @param verb that asks */
export async function liveObjects({ settings, client }: VerbContext, verb: string): Promise<LiveObjects> {
  const { namespace } = settings;
  const [repositories, ...lists] = await Promise.all([
    client().listObjects("repositories", { namespace }),
    ...REPOSITORY_CONTENT_KINDS.map((kind) => client().listObjects(kindNamed(kind, verb).plural, { namespace })),
  ]);
  return { repositories: repositories as ObjectOf<"Repository">[], objects: lists.flat() };
}
