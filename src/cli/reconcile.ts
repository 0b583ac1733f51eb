import { DURATION_PATTERN, durationMs } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { printObjects } from "./get.ts";
import { kindNamed } from "./kind-names.ts";
import { OUTPUT_OPTION, type OutputForm } from "./output.ts";
import { requiredRepository } from "./repository-argument.ts";
import { syncAndTell } from "./repository-sync.ts";
import { CLIENT_OPTIONS, REPOSITORY_ARGUMENTS, type Verb } from "./verb.ts";

interface ReconcileOptions {
  readonly timeout: string;
  readonly output?: OutputForm;
}

export const reconcile: Verb<ReconcileOptions> = {
  name: "reconcile",
  summary: "Sync a repository now, and show how it ended",
  arguments: REPOSITORY_ARGUMENTS,
  options: [
    { flags: "--timeout <duration>", description: "how long to wait for the end", fallback: "1m" },
    { ...OUTPUT_OPTION, description: "the repository in this form instead" },
    ...CLIENT_OPTIONS,
  ],
  examples: [{ line: "sless reconcile repository example", does: "exit code 0 ready, 1 not ready" }],
  async run(args, { timeout, output }, context) {
    checkDuration(timeout);
    const name = await requiredRepository(args, "reconcile", context);
    // Whoever reads the object from stdout wants nothing else there.
    const to = output ? context.io.stderr : context.io.stdout;
    const code = await syncAndTell(name, { within: timeout, to }, context);
    if (output) await printObjects(kindNamed("Repository", "reconcile"), name, output, context);
    return code;
  },
};

function checkDuration(text: string): void {
  if (new RegExp(DURATION_PATTERN).test(text) && durationMs(text) > 0) return;
  throw new SlessError("usage_invalid", {
    cause: `--timeout ${text} is no duration; write for example 30s, 5m or 1h30m`,
    verb: "reconcile",
  });
}
