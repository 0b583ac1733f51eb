import { nearestName } from "../apis/index.ts";
import { isSlessError, SlessError } from "../errors/index.ts";
import { type CodePlural, ServerError, type SlessClient } from "../server/client.ts";
import { kindAndName, pluralOf } from "./kind-names.ts";

/**
 * The workload that a person names: `hello` (a function, else a service, else a job), `job/report` or `job report`.
 *
 * @throws SlessError `usage_invalid` for another kind or a name that is not there, with the nearest one that is
 */
export async function workloadNamed<P extends CodePlural>(
  words: readonly string[],
  options: { client: SlessClient; namespace: string; among: readonly P[]; verb: string },
): Promise<{ plural: P; name: string }> {
  const { among, verb } = options;
  let kinds = among;
  let name = words[0] ?? "";
  if (words.length > 1 || name.includes("/")) {
    const given = kindAndName(words, verb);
    kinds = among.filter((plural) => plural === given.named.plural);
    name = given.name ?? "";
    if (kinds.length === 0)
      throw new SlessError("usage_invalid", { cause: `\`sless ${verb}\` is for ${among.join(", ")}`, verb });
  }
  for (const plural of kinds) if (await exists(plural, name, options)) return { plural, name };
  if (words.length === 1 && pluralOf(name))
    throw new SlessError("usage_invalid", { cause: `${name} is a kind; write the name after it`, verb });
  throw await notThere(name, kinds, options);
}

async function exists(
  plural: CodePlural,
  name: string,
  { client, namespace }: { client: SlessClient; namespace: string },
): Promise<boolean> {
  try {
    await client.get(plural, name, { namespace });
    return true;
  } catch (error) {
    if (isSlessError(error, "not_found") || (error instanceof ServerError && error.status === 404)) return false;
    throw error;
  }
}

async function notThere(
  name: string,
  kinds: readonly CodePlural[],
  { client, namespace, verb }: { client: SlessClient; namespace: string; verb: string },
): Promise<SlessError> {
  const lists = await Promise.all(kinds.map((plural) => client.list(plural, { namespace })));
  const names = lists.flat().map((item) => item.name);
  const near = nearestName(name, names);
  const hint = near ? `did you mean ${near}?` : `known: ${names.slice(0, 20).join(", ") || "none"}`;
  const singulars = kinds.map((plural) => plural.replace(/s$/, ""));
  const cause = `no ${singulars.join(", ").replace(/, (\w+)$/, " or $1")} of namespace ${namespace} is named ${name}; ${hint}`;
  return new SlessError("usage_invalid", { cause, verb });
}
