import { SlessError } from "../errors/index.ts";
import { isKindWord, kindAndName } from "./kind-names.ts";

/**
 * The repository that a person names: `example`, `repository example` or `repo/example`; undefined without words.
 *
 * @throws SlessError `usage_invalid` for another kind, and for a kind without a name
 */
export function repositoryArgument(words: readonly string[], verb: string): string | undefined {
  const [first] = words;
  if (first === undefined) return undefined;
  if (words.length === 1 && !first.includes("/") && !isKindWord(first, "Repository")) return first;
  const { named, name } = kindAndName(words, verb);
  if (named.kind === "Repository" && name !== undefined) return name;
  throw new SlessError("usage_invalid", { cause: `${verb} is for one repository, by name`, verb });
}

/** The same where it must be named. @throws SlessError `usage_invalid` */
export function requiredRepository(words: readonly string[], verb: string): string {
  const name = repositoryArgument(words, verb);
  if (name !== undefined) return name;
  throw new SlessError("usage_invalid", { cause: `${verb} needs the name of a repository`, verb });
}
