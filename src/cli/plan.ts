import { resolve } from "node:path";
import { refOf, refText } from "../apis/index.ts";
import { type KnownObjects, NOTHING_KNOWN, openDesiredReader } from "../desired/index.ts";
import { isSlessError, SlessError } from "../errors/index.ts";
import {
  changesBetween,
  type DesiredState,
  isWriting,
  PLAN_FORMATS,
  type PlanFormat,
  renderPlan,
} from "../plan/index.ts";
import type { GitReader, Resolved } from "../source/index.ts";
import { findRepository } from "./find-repository.ts";
import type { Verb, VerbContext } from "./verb.ts";

interface PlanOptions {
  readonly repo: string;
  readonly base?: string;
  readonly head: string;
  readonly path: string;
  readonly output: PlanFormat;
}

export const plan: Verb<PlanOptions> = {
  name: "plan",
  summary: "Show what a change of a repository would deploy; no server, no network",
  options: [
    { flags: "--repo <path>", description: "local repository, bare or not", fallback: "." },
    {
      flags: "--base <commit>",
      description: "compare with the merge base of this and the head, as a pull request does",
    },
    { flags: "--head <commit>", description: "branch, tag or commit to plan", fallback: "HEAD" },
    { flags: "--path <folder>", description: "only this folder of the repository", fallback: "" },
    {
      flags: "-n, --namespace <name>",
      description: "namespace (SLESS_NAMESPACE; default: default)",
      setting: "namespace",
    },
    { flags: "-o, --output <form>", description: "form of the plan", choices: PLAN_FORMATS, fallback: "text" },
  ],
  examples: [
    { line: "sless plan", does: "all that the repository would create, and its faults" },
    { line: "sless plan --base main", does: "what this branch changes; exit code 0 nothing, 1 changes, 2 faults" },
    { line: "sless plan --base main -o markdown", does: "the same as a comment for a pull request" },
  ],
  async run(_args, { repo, base, head, path, output }, context) {
    const { io, deps, style } = context;
    const git = await deps.openGitReader(await findRepository(resolve(io.cwd, repo)));
    try {
      const revisions = await revisionsOf(git, base, head);
      const states = await readStates(git, revisions, path, context);
      const changes = changesBetween(states.base, states.head);
      const { diagnostics } = states.head;
      io.stdout.write(renderPlan(changes, { format: output, color: style.colored, diagnostics }));
      if (diagnostics.length > 0) return 2;
      return changes.actions.some(isWriting) ? 1 : 0;
    } catch (error) {
      throw mistyped(error);
    } finally {
      await git.close();
    }
  },
};

/** Nobody here has a spec to correct: a ref or a folder that is not there was mistyped. */
function mistyped(error: unknown): unknown {
  if (!isSlessError(error, "ref_not_found") && !isSlessError(error, "path_not_found")) return error;
  return new SlessError("usage_invalid", { cause: error.happened.replace(/\.$/, ""), verb: "plan" }, { cause: error });
}

interface Revisions {
  readonly base: Resolved | undefined;
  readonly head: Resolved;
}

async function revisionsOf(git: GitReader, base: string | undefined, head: string): Promise<Revisions> {
  const to = await git.resolveExpression(head);
  if (base === undefined) return { base: undefined, head: to };
  const from = await git.resolveExpression(base);
  const common = await git.mergeBase(from.commit, to.commit);
  if (common === undefined)
    throw new SlessError("usage_invalid", { cause: `${base} and ${head} have no common history`, verb: "plan" });
  return { base: common === to.commit ? to : await git.resolveExpression(common), head: to };
}

/** Both through one reader: what they share is read once. */
async function readStates(
  git: GitReader,
  { base, head }: Revisions,
  path: string,
  { deps, settings }: VerbContext,
): Promise<{ base: DesiredState | undefined; head: DesiredState }> {
  const runtimes = await deps.loadRuntimes();
  const reader = openDesiredReader({ git, path, namespace: settings.namespace, runtimes });
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
  const manifestFiles = new Map<string, string[]>();
  for (const { file, intent } of objects) {
    const refs = manifestFiles.get(file) ?? [];
    refs.push(refText(refOf(intent)));
    manifestFiles.set(file, refs);
  }
  return { manifestFiles };
}
