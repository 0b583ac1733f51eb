import type { Plural } from "../server/client.ts";
import { SHELLS } from "./completion-scripts.ts";
import { KIND_WORDS, pluralOf } from "./kind-names.ts";
import { type ArgumentRow, type Completes, GROUPS, type OptionRow, type Verb } from "./verb.ts";

export interface Completion {
  readonly word: string;
  readonly does?: string;
}

/** What the shell itself completes best. */
export const FILES: Completion = { word: ":files" };

/** Where names come from; what cannot be known now is empty. */
export interface NameSources {
  objects(plural: Plural): Promise<readonly string[]>;
  secrets(): Promise<readonly string[]>;
  runtimes(): Promise<readonly string[]>;
}

/**
 * What the last word of a command line may become.
 *
 * @param words after `sless`; the last is the one that is typed, perhaps empty
 */
export async function completionsOf(
  words: readonly string[],
  verbs: readonly Verb[],
  sources: NameSources,
): Promise<Completion[]> {
  const shown = verbs.filter(({ hidden }) => !hidden);
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const found = verbOf(before, shown);
  if (!found) return startingWith(typed, verbWords(before, shown));
  const { verb, rest } = found;
  const line = readLine(rest, verb.options ?? []);
  if (line.open) return startingWith(typed, await valuesOf(line.open, sources));
  if (typed.startsWith("-") && !line.onlyArguments) return startingWith(typed, flagsOf(verb));
  const argument = argumentAt(line.positional.length, verb.arguments ?? []);
  if (!argument?.completes) return [];
  return startingWith(typed, await candidates(argument.completes, typed, line.positional, sources));
}

function startingWith(typed: string, all: readonly Completion[]): Completion[] {
  return all.filter((one) => one === FILES || one.word.startsWith(typed));
}

/** The verb that the line begins with, and the words after it. */
function verbOf(
  before: readonly string[],
  verbs: readonly Verb[],
): { verb: Verb; rest: readonly string[] } | undefined {
  for (const length of [2, 1]) {
    const verb = verbs.find(({ name }) => name === before.slice(0, length).join(" "));
    if (verb && before.length >= length) return { verb, rest: before.slice(length) };
  }
  return undefined;
}

/** Verbs and groups at the start; the verbs of a group after it; nothing after a word that is none. */
function verbWords(before: readonly string[], verbs: readonly Verb[]): Completion[] {
  const [group, ...more] = before;
  if (group === undefined) {
    const single = verbs.filter(({ name }) => !name.includes(" "));
    const groups = Object.entries(GROUPS).map(([word, does]) => ({ word, does }));
    return [...single.map(({ name, summary }) => ({ word: name, does: summary })), ...groups];
  }
  if (more.length > 0) return [];
  const members = verbs.filter(({ name }) => name.startsWith(`${group} `));
  return members.map(({ name, summary }) => ({ word: name.slice(group.length + 1), does: summary }));
}

interface Line {
  readonly positional: readonly string[];
  /** The option whose value is typed. */
  readonly open: OptionRow | undefined;
  /** After `--`. */
  readonly onlyArguments: boolean;
}

function readLine(words: readonly string[], options: readonly OptionRow[]): Line {
  const positional: string[] = [];
  let open: OptionRow | undefined;
  for (const [index, word] of words.entries()) {
    if (open) open = undefined;
    else if (word === "--")
      return { positional: [...positional, ...words.slice(index + 1)], open: undefined, onlyArguments: true };
    else if (!word.startsWith("-") || word === "-") positional.push(word);
    else open = options.find((option) => takesValue(option) && flagWords(option).includes(word));
  }
  return { positional, open, onlyArguments: false };
}

/** `-o, --output <form>` → `-o`, `--output`. */
function flagWords({ flags }: OptionRow): string[] {
  return flags.split(/[ ,]+/).filter((word) => word.startsWith("-"));
}

function takesValue({ flags }: OptionRow): boolean {
  return /[<[]/.test(flags);
}

function flagsOf({ options = [] }: Verb): Completion[] {
  const rows = [...options, { flags: "--help", description: "all about this verb" }];
  return rows.map((row) => ({ word: flagWords(row).at(-1)!, does: row.description }));
}

async function valuesOf(option: OptionRow, sources: NameSources): Promise<Completion[]> {
  if (option.choices) return option.choices.map((word) => ({ word }));
  if (option.completes) return candidates(option.completes, "", [], sources);
  return /<(path|folder|file)>/.test(option.flags) ? [FILES] : [];
}

function argumentAt(index: number, rows: readonly ArgumentRow[]): ArgumentRow | undefined {
  return rows[index] ?? (rows.at(-1)?.name.includes("...") ? rows.at(-1) : undefined);
}

async function candidates(
  what: Completes,
  typed: string,
  positional: readonly string[],
  sources: NameSources,
): Promise<Completion[]> {
  switch (what) {
    case "kind":
      return kindsOrNames(typed, sources);
    case "name":
      return namesAfter(positional[0] ?? "", typed, sources);
    case "repository":
      return toCompletions(["repository"]);
    case "runtime":
      return toCompletions(await sources.runtimes());
    case "secret":
      return toCompletions(await sources.secrets());
    case "shell":
      return toCompletions(SHELLS);
    default:
      return toCompletions((await Promise.all(what.map((plural) => sources.objects(plural)))).flat());
  }
}

function toCompletions(words: readonly string[]): Completion[] {
  return words.map((word) => ({ word }));
}

/** `functions`, and after a slash the names: `functions/hello`. */
async function kindsOrNames(typed: string, sources: NameSources): Promise<Completion[]> {
  const slash = typed.indexOf("/");
  if (slash < 0) return toCompletions(KIND_WORDS);
  const plural = pluralOf(typed.slice(0, slash));
  const names = plural ? await sources.objects(plural) : [];
  return names.map((name) => ({ word: `${typed.slice(0, slash)}/${name}` }));
}

/** Names of the kind that stands before, or more of `kind/name` after one of those. */
async function namesAfter(kind: string, typed: string, sources: NameSources): Promise<Completion[]> {
  if (kind.includes("/")) return kindsOrNames(typed, sources);
  const plural = pluralOf(kind);
  return plural ? toCompletions(await sources.objects(plural)) : [];
}
