import { resolve } from "node:path";
import { refOf, refText } from "../apis/index.ts";
import {
  type DesiredReaderOptions,
  type KnownObjects,
  knownObjects,
  NOTHING_KNOWN,
  openDesiredReader,
} from "../desired/index.ts";
import { isSlessError, SlessError } from "../errors/index.ts";
import { changesBetween, type DesiredState, isWriting, missingTargets } from "../plan/index.ts";
import type { GitReader, Resolved } from "../source/index.ts";
import { findRepository } from "./find-repository.ts";
import { historyHint, mistyped } from "./missing-commit.ts";
import { PLAN_OPTION, type PlanOutput, writePlan } from "./plan-output.ts";
import { planWithServer } from "./plan-with-server.ts";
import { readBuilds } from "./read-builds.ts";
import { CLIENT_OPTIONS, type Verb } from "./verb.ts";

interface PlanOptions {
  readonly repo: string;
  readonly base?: string;
  readonly head?: string;
  readonly path: string;
  readonly server?: boolean;
  readonly repository?: string;
  readonly output: PlanOutput;
}

export const plan: Verb<PlanOptions> = {
  name: "plan",
  summary: "Show what a change of a repository would deploy; without --server no server, no network",
  options: [
    { flags: "--repo <path>", description: "local repository, bare or not", fallback: "." },
    {
      flags: "--base <commit>",
      description: "compare with the merge base of this and the head, as a pull request does",
    },
    { flags: "--head <commit>", description: "branch, tag or commit to plan (default: HEAD)" },
    { flags: "--path <folder>", description: "only this folder of the repository", fallback: "", mayBeEmpty: true },
    {
      flags: "--server",
      description: "compare with what the server runs; without --head what is not committed counts too",
    },
    {
      flags: "--repository <name>",
      description: "with --server: the repository that the folder is of, when its remote does not tell",
      completes: ["repositories"],
    },
    PLAN_OPTION,
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "sless plan", does: "all that the repository would create, and its faults" },
    { line: "sless plan --base main", does: "what this branch changes; exit code 0 nothing, 1 changes, 2 faults" },
    { line: "sless plan --server", does: "this folder against what runs; after a pull nothing to do" },
    { line: "sless plan --base main -o markdown", does: "the same as a comment for a pull request" },
  ],
  async run(_args, options, context) {
    if (options.server) return planWithServer(withoutBase(options), context);
    if (options.repository !== undefined) throw usage("--repository is for --server");
    const { repo, base, head = "HEAD", path, output } = options;
    const { io, deps } = context;
    const repository = await findRepository(resolve(io.cwd, repo));
    const git = await deps.openGitReader(repository);
    try {
      const revisions = await revisionsOf(git, base, head, repository);
      const runtimes = await deps.loadRuntimes();
      const states = await readStates(git, revisions, { path, namespace: context.settings.namespace, runtimes });
      const changes = changesBetween(states.base, states.head);
      const before = { base: states.base?.objects ?? [] };
      const { builds, diagnostics: ofBuilds } = await readBuilds({ plan: changes, git, runtimes, before });
      const diagnostics = [...states.head.diagnostics, ...ofBuilds];
      const warnings = diagnostics.length > 0 ? [] : missingTargets(changes);
      await writePlan({ plan: changes, diagnostics, warnings, builds }, output, context);
      if (diagnostics.length > 0) return 2;
      return changes.actions.some(isWriting) ? 1 : 0;
    } catch (error) {
      throw await mistyped(error, repository, "plan");
    } finally {
      await git.close();
    }
  },
};

/** The server knows what was, and what part of the repository counts. */
function withoutBase({ base, path, ...options }: PlanOptions): Omit<PlanOptions, "base" | "path"> {
  if (base === undefined && path === "") return options;
  throw usage(`--server compares with what runs; leave out ${base === undefined ? "--path" : "--base"}`);
}

function usage(cause: string): SlessError {
  return new SlessError("usage_invalid", { cause, verb: "plan" });
}

interface Revisions {
  readonly base: Resolved | undefined;
  readonly head: Resolved;
}

async function revisionsOf(
  git: GitReader,
  base: string | undefined,
  head: string,
  repository: string,
): Promise<Revisions> {
  const to = await git.resolveExpression(head);
  if (base === undefined) return { base: undefined, head: to };
  const from = await git.resolveExpression(base);
  const common = await git.mergeBase(from.commit, to.commit);
  if (common === undefined) throw usage(`${base} and ${head} have no common history${await historyHint(repository)}`);
  return { base: common === to.commit ? to : await git.resolveExpression(common), head: to };
}

/** Both through one reader: what they share is read once. */
async function readStates(
  git: GitReader,
  { base, head }: Revisions,
  options: Pick<DesiredReaderOptions, "path" | "namespace" | "runtimes">,
): Promise<{ base: DesiredState | undefined; head: DesiredState }> {
  const reader = openDesiredReader({ git, ...options });
  const before = base && (await reader.read(base, NOTHING_KNOWN).catch(absentFolder));
  return { base: before, head: await reader.read(head, before ? knownOf(before) : NOTHING_KNOWN) };
}

/** A folder that the head adds: before it there was nothing. */
function absentFolder(error: unknown): undefined {
  if (isSlessError(error, "path_not_found")) return undefined;
  throw error;
}

/** A file that held objects and no longer looks like a manifest is a fault, not a deletion. */
function knownOf({ objects }: DesiredState): KnownObjects {
  return knownObjects(objects.map(({ file, intent }) => [refText(refOf(intent)), file] as const));
}
