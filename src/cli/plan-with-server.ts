import { resolve } from "node:path";
import { isSlessError, SlessError } from "../errors/index.ts";
import { folderRepository, openFolder } from "../pull/index.ts";
import { codeOf, compareWithServer } from "./compare-with-server.ts";
import { findRepository } from "./find-repository.ts";
import { say } from "./io.ts";
import { liveObjects } from "./live-objects.ts";
import { headOf } from "./missing-commit.ts";
import { type PlanOutput, writePlan } from "./plan-output.ts";
import type { VerbContext } from "./verb.ts";

export interface ServerPlan {
  /** Folder of the checkout, as the user wrote it. */
  readonly repo: string;
  /** undefined: what lies in the work tree. */
  readonly head?: string;
  /** undefined: the Repository that follows the checkout. */
  readonly repository?: string;
  readonly output: PlanOutput;
}

const VERB = "plan";

/**
 * Plans a checkout against what the server runs, as a push of it would be synced; answers the exit code. A checkout
 * that no Repository follows is planned as a new one.
 *
 * @throws SlessError `not_a_repository`, `usage_invalid`
 */
export async function planWithServer(options: ServerPlan, context: VerbContext): Promise<number> {
  const { io, deps, settings } = context;
  const top = await findRepository(resolve(io.cwd, options.repo));
  const live = await liveObjects(context, VERB);
  const place = await openFolder({ into: top, top, openGit: deps.openGitReader }).catch(asOfPlan);
  const repository = await folderRepository(live.repositories, place, options.repository).catch(asOfPlan);
  if (!repository) say(io.stderr, `No repository of namespace ${settings.namespace} follows this one: a new one.`);
  const git = options.head === undefined ? await deps.openWorktree(top) : await deps.openGitReader(top);
  try {
    const { head: named } = options;
    const head = named === undefined ? await git.resolve({}) : await headOf(git, named, top, VERB);
    const comparison = await compareWithServer({ live, repository, git, head }, context);
    await writePlan(comparison, options.output, context);
    return codeOf(comparison);
  } finally {
    await git.close();
  }
}

function asOfPlan(error: unknown): never {
  if (!isSlessError(error, "usage_invalid")) throw error;
  throw new SlessError("usage_invalid", { ...error.details, cause: String(error.details.cause), verb: VERB });
}
