import { DURATION_PATTERN, durationMs } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { requiredRepository } from "./repository-argument.ts";
import { syncAndTell } from "./repository-sync.ts";
import { CLIENT_OPTIONS, REPOSITORY_ARGUMENTS, type Verb } from "./verb.ts";

interface ReconcileOptions {
  readonly timeout: string;
}

export const reconcile: Verb<ReconcileOptions> = {
  name: "reconcile",
  summary: "Sync a repository now, and show how it ended",
  arguments: REPOSITORY_ARGUMENTS,
  options: [
    { flags: "--timeout <duration>", description: "how long to wait for the end", fallback: "1m" },
    ...CLIENT_OPTIONS,
  ],
  examples: [{ line: "sless reconcile repository example", does: "exit code 0 ready, 1 not ready" }],
  async run(args, { timeout }, context) {
    const name = requiredRepository(args, "reconcile");
    checkDuration(timeout);
    return syncAndTell(name, { within: timeout, to: context.io.stdout }, context);
  },
};

function checkDuration(text: string): void {
  if (new RegExp(DURATION_PATTERN).test(text) && durationMs(text) > 0) return;
  throw new SlessError("usage_invalid", {
    cause: `--timeout ${text} is no duration; write for example 30s, 5m or 1h30m`,
    verb: "reconcile",
  });
}
