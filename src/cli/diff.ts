import { resolve } from "node:path";
import type { ObjectOf } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { codeOf, compareWithServer } from "./compare-with-server.ts";
import { findRepository } from "./find-repository.ts";
import { liveObjects } from "./live-objects.ts";
import { headOf } from "./missing-commit.ts";
import { PLAN_OPTION, type PlanOutput, writePlan } from "./plan-output.ts";
import { repositoryArgument } from "./repository-argument.ts";
import { OPTIONAL_REPOSITORY_ARGUMENTS, READ_OPTIONS, type Verb } from "./verb.ts";

interface DiffOptions {
  readonly repo: string;
  readonly head: string;
  readonly output: PlanOutput;
}

const VERB = "diff";

export const diff: Verb<DiffOptions> = {
  name: VERB,
  summary: "Show what a commit of a repository would change against what runs",
  arguments: OPTIONAL_REPOSITORY_ARGUMENTS,
  options: [
    { flags: "--repo <path>", description: "local clone, bare or not", fallback: "." },
    { flags: "--head <commit>", description: "branch, tag or commit to compare", fallback: "HEAD" },
    PLAN_OPTION,
    ...READ_OPTIONS,
  ],
  examples: [
    { line: "sless diff", does: "this clone's HEAD; exit code 0 the same, 1 differs, 2 faults" },
    { line: "sless diff repository example --head v1.2", does: "what going back to a tag would change" },
  ],
  async run(args, { repo, head, output }, context) {
    const { io, deps, settings } = context;
    const name = await repositoryArgument(args, VERB, context);
    const live = await liveObjects(context, VERB);
    const repository = chosen(name, live.repositories, settings.namespace);
    const clone = await findRepository(resolve(io.cwd, repo));
    const git = await deps.openGitReader(clone);
    try {
      const at = { live, repository, git, head: await headOf(git, head, clone, VERB) };
      const comparison = await compareWithServer(at, context);
      await writePlan(comparison, output, context);
      return codeOf(comparison);
    } finally {
      await git.close();
    }
  },
};

function chosen(
  name: string | undefined,
  all: readonly ObjectOf<"Repository">[],
  namespace: string,
): ObjectOf<"Repository"> {
  const found = all.filter(({ metadata }) => name === undefined || metadata.name === name);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (name !== undefined) throw new SlessError("not_found", { what: `Repository ${namespace}/${name}` });
  const names = all.map(({ metadata }) => metadata.name).join(", ");
  const cause = names ? `name one of the repositories ${names}` : `namespace ${namespace} has no repository`;
  throw new SlessError("usage_invalid", { cause, verb: VERB });
}
