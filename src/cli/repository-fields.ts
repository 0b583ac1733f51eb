import { SlessError } from "../errors/index.ts";
import type { OptionRow } from "./verb.ts";

const REF_FLAGS = ["branch", "tag", "semver", "commit"] as const;

/** The fields of a repository as a command line names them; an empty text stands for the default. */
export interface RepositoryFlags extends Readonly<Partial<Record<(typeof REF_FLAGS)[number], string>>> {
  readonly url?: string;
  readonly path?: string;
  readonly secret?: string;
  readonly webhookSecret?: string;
  readonly interval?: string;
  readonly timeout?: string;
  readonly prune?: boolean;
  readonly deletionPolicy?: "Orphan" | "Delete";
  readonly maxDeletions?: string;
  readonly maxPercent?: string;
}

/** All but `--url`, which one verb must have and the other may. */
export const REPOSITORY_OPTIONS: readonly OptionRow[] = [
  {
    flags: "--branch <name>",
    mayBeEmpty: true,
    description: "branch that is followed (default: the repository's own)",
  },
  { flags: "--tag <name>", mayBeEmpty: true, description: "tag instead" },
  { flags: "--semver <range>", mayBeEmpty: true, description: "newest tag of a range instead: 1.x" },
  { flags: "--commit <id>", mayBeEmpty: true, description: "one commit instead" },
  { flags: "--path <path>", mayBeEmpty: true, description: "folder that is followed (default: all)" },
  {
    flags: "--secret <name>",
    mayBeEmpty: true,
    description: "secret with username and password, or token",
    completes: "secret",
  },
  {
    flags: "--webhook-secret <name>",
    mayBeEmpty: true,
    description: "secret whose token a forge signs with",
    completes: "secret",
  },
  { flags: "--interval <duration>", mayBeEmpty: true, description: "how often the repository is asked (default: 1m)" },
  { flags: "--timeout <duration>", mayBeEmpty: true, description: "how long a fetch may take (default: 1m)" },
  { flags: "--prune", description: "delete what is gone from the repository (default)" },
  { flags: "--no-prune", description: "keep it" },
  {
    flags: "--deletion-policy <policy>",
    description: "what becomes of its objects when the repository is deleted here (default: Orphan, they stay)",
    choices: ["Orphan", "Delete"],
  },
  {
    flags: "--max-deletions <number>",
    mayBeEmpty: true,
    description: "more at once wait for an approval (default: 10)",
  },
  {
    flags: "--max-percent <number>",
    mayBeEmpty: true,
    description: "the same as a share of its objects (default: 50)",
  },
];

/**
 * What the flags name, in the fields of the API, as a merge patch: null returns a field to its default.
 *
 * @throws SlessError `usage_invalid` for more than one ref, and for what is no number
 */
export function repositoryFields(flags: RepositoryFlags, verb: string): Record<string, unknown> {
  const max_deletions = numberOf("--max-deletions", flags.maxDeletions, verb);
  const max_percent = numberOf("--max-percent", flags.maxPercent, verb);
  const guard = defined({ max_deletions, max_percent });
  return defined({
    url: textOf(flags.url),
    ref: refFields(flags, verb),
    path: textOf(flags.path),
    interval: textOf(flags.interval),
    timeout: textOf(flags.timeout),
    secret_ref: secretRef(flags.secret),
    webhook_secret_ref: secretRef(flags.webhookSecret),
    prune: flags.prune,
    deletion_policy: flags.deletionPolicy,
    deletion_guard: Object.keys(guard).length > 0 ? guard : undefined,
  });
}

/** A new ref takes the place of the one before, of whatever sort that was. */
function refFields(flags: RepositoryFlags, verb: string): Record<string, string | null> | null | undefined {
  const named = REF_FLAGS.filter((flag) => flags[flag] !== undefined);
  const [one] = named;
  if (named.length > 1)
    throw new SlessError("usage_invalid", {
      cause: `${named.map((flag) => `--${flag}`).join(" and ")} name more than one ref; keep one of them`,
      verb,
    });
  if (one === undefined || flags[one] === "") return one && null;
  return Object.fromEntries(REF_FLAGS.map((flag) => [flag, flags[flag] ?? null]));
}

function secretRef(name: string | undefined): { readonly name: string } | null | undefined {
  return name ? { name } : (textOf(name) as null | undefined);
}

function textOf(value: string | undefined): string | null | undefined {
  return value === "" ? null : value;
}

function numberOf(flag: string, value: string | undefined, verb: string): number | null | undefined {
  if (value === undefined || value === "") return textOf(value) as null | undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new SlessError("usage_invalid", { cause: `${flag} ${value} is no whole number`, verb });
}

function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
