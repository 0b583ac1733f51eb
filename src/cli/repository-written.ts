import { durationMs } from "../apis/index.ts";
import type { RepositoryItem } from "../server/client.ts";
import { printObjects } from "./get.ts";
import { say } from "./io.ts";
import { kindNamed } from "./kind-names.ts";
import { OUTPUT_OPTION, type OutputForm } from "./output.ts";
import { syncAndTell } from "./repository-sync.ts";
import { CLIENT_OPTIONS, type OptionRow, type VerbContext } from "./verb.ts";

export interface WrittenFlags {
  readonly wait?: boolean;
  readonly output?: OutputForm;
}

export const WRITTEN_OPTIONS: readonly OptionRow[] = [
  { flags: "--wait", description: "until it is synced; exit code 0 ready, 1 not ready" },
  { ...OUTPUT_OPTION, description: "the repository in this form instead" },
  ...CLIENT_OPTIONS,
];

/** What a sync may take beside its fetch. */
const SYNC_SECONDS = 30;

/**
 * Ends a verb that wrote a repository: tells it, waits for its sync and shows the object, as the flags say. Answers
 * the exit code.
 *
 * @param done what was done, for people
 */
export async function tellWritten(
  item: RepositoryItem,
  done: string,
  { wait = false, output }: WrittenFlags,
  context: VerbContext,
): Promise<number> {
  // Whoever reads the object from stdout wants nothing else there.
  const to = output ? context.io.stderr : context.io.stdout;
  if (!output) say(to, done);
  const within = `${durationMs(item.timeout ?? "1m") / 1_000 + SYNC_SECONDS}s`;
  const code = wait ? await syncAndTell(item.name, { within, to }, context) : 0;
  if (output) await printObjects(kindNamed("Repository", "get"), item.name, output, context);
  return code;
}
