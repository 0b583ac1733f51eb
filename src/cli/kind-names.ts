import { KINDS, type Kind, nearestName } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import type { Plural } from "../server/client.ts";

const PLURAL_OF: Readonly<Record<Kind, Plural>> = {
  Function: "functions",
  Service: "services",
  Trigger: "triggers",
  FunctionJob: "jobs",
  Repository: "repositories",
};

/** A kind as a person means it on a command line. */
export interface NamedKind {
  readonly kind: Kind;
  readonly plural: Plural;
  /** `function`, `job`: the form of `-o name`. */
  readonly singular: string;
}

const SINGULAR_OF: Readonly<Record<Kind, string>> = { ...singulars(), FunctionJob: "job" };

/** What `get` and `describe` list as known. */
export const KIND_WORDS: readonly Plural[] = Object.values(PLURAL_OF);

const BY_WORD = new Map<string, NamedKind>(
  (Object.keys(KINDS) as Kind[]).flatMap((kind) => {
    const named = { kind, plural: PLURAL_OF[kind], singular: SINGULAR_OF[kind] };
    const { plural, singular, shortNames } = KINDS[kind];
    const short = shortNames.flatMap((name) => [name, `${name}s`]);
    const words = [kind, plural, singular, ...short, named.plural, named.singular];
    return words.map((word): [string, NamedKind] => [word.toLowerCase(), named]);
  }),
);

/**
 * The kind that a word names: plural, singular or short, in any case.
 *
 * @throws SlessError `usage_invalid` with the nearest known word
 */
export function kindNamed(word: string, verb: string): NamedKind {
  const named = BY_WORD.get(word.toLowerCase());
  if (named) return named;
  if (/^secrets?$/i.test(word))
    throw new SlessError("usage_invalid", {
      cause: "secrets have verbs of their own: `sless secret list`, `set` and `delete`",
      verb,
    });
  const near = nearestName(word, [...BY_WORD.keys()]);
  const known = near ? `did you mean ${near}?` : `known: ${KIND_WORDS.join(", ")}`;
  throw new SlessError("usage_invalid", { cause: `"${word}" is no kind; ${known}`, verb });
}

/** `function/hello`, as `-o name` prints it. */
export function nameOf({ kind, name }: { readonly kind: Kind; readonly name: string }): string {
  return `${SINGULAR_OF[kind]}/${name}`;
}

/** The word names this very kind. */
export function isKindWord(word: string, kind: Kind): boolean {
  return BY_WORD.get(word.toLowerCase())?.kind === kind;
}

/** The plural of a kind's word; undefined for what is none. */
export function pluralOf(word: string): Plural | undefined {
  return BY_WORD.get(word.toLowerCase())?.plural;
}

/** `function hello`, `function/hello` or, without a name, `functions` alone; more is a fault. */
export function kindAndName(words: readonly string[], verb: string): { named: NamedKind; name: string | undefined } {
  const parts = words.flatMap((word) => word.split("/"));
  if (parts.length > 2 || parts.some((part) => part === ""))
    throw new SlessError("usage_invalid", { cause: `"${words.join(" ")}" is not one kind and one name`, verb });
  return { named: kindNamed(parts[0] ?? "", verb), name: parts[1] };
}

function singulars(): Record<Kind, string> {
  return Object.fromEntries((Object.keys(KINDS) as Kind[]).map((kind) => [kind, KINDS[kind].singular])) as Record<
    Kind,
    string
  >;
}
