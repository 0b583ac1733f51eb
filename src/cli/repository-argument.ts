import { SlessError } from "../errors/index.ts";
import { isKindWord, kindAndName } from "./kind-names.ts";
import type { VerbContext } from "./verb.ts";

/**
 * The repository that a person names: `example`, `repository example` or `repo/example`; undefined without words. The
 * word `repo` alone is the name of a repository where one is called so.
 *
 * @throws SlessError `usage_invalid` for another kind, and for a kind without a name
 */
export async function repositoryArgument(
  words: readonly string[],
  verb: string,
  { client, settings }: Pick<VerbContext, "client" | "settings">,
): Promise<string | undefined> {
  const [first] = words;
  if (first === undefined) return undefined;
  if (words.length > 1 || !isKindWord(first, "Repository")) return repositoryNamed(words, verb);
  const { namespace } = settings;
  const all = await client().list("repositories", { namespace });
  return all.some(({ name }) => name === first) ? first : repositoryNamed(words, verb);
}

/** The same where it must be named. @throws SlessError `usage_invalid` */
export async function requiredRepository(
  words: readonly string[],
  verb: string,
  context: Pick<VerbContext, "client" | "settings">,
): Promise<string> {
  const name = await repositoryArgument(words, verb, context);
  if (name !== undefined) return name;
  throw new SlessError("usage_invalid", { cause: `${verb} needs the name of a repository`, verb });
}

/** The name in words that need no look at the server. @throws SlessError `usage_invalid` */
export function repositoryNamed(words: readonly string[], verb: string): string {
  const [first = ""] = words;
  if (words.length === 1 && !first.includes("/") && !isKindWord(first, "Repository")) return first;
  const { named, name } = kindAndName(words, verb);
  if (named.kind === "Repository" && name !== undefined) return name;
  throw new SlessError("usage_invalid", { cause: `${verb} is for one repository, by name`, verb });
}
