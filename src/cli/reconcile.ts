import { setTimeout as wait } from "node:timers/promises";
import { DURATION_PATTERN, durationMs, findCondition, isTrue, type ObjectOf } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { diagnosticLines } from "./describe.ts";
import { type Io, say } from "./io.ts";
import { requiredRepository } from "./repository-argument.ts";
import type { Style } from "./style.ts";
import { oneLine, shortRevision } from "./table.ts";
import { CLIENT_OPTIONS, REPOSITORY_ARGUMENTS, type Verb, type VerbContext } from "./verb.ts";

interface ReconcileOptions {
  readonly timeout: string;
}

const POLL_MS = 200;

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
    const deadline = performance.now() + millisecondsOf(timeout);
    const { namespace } = context.settings;
    const { requested_at: requested } = await context.client().reconcile(name, { namespace });
    const synced = await waitForSync(name, requested, deadline, context);
    if (synced) return printOutcome(synced, context.io, context.style);
    say(
      context.io.stderr,
      `${name} was not synced within ${timeout}; \`sless describe repository ${name}\` tells more.`,
    );
    return 1;
  },
};

async function waitForSync(
  name: string,
  requested: string,
  deadline: number,
  { settings, client }: VerbContext,
): Promise<ObjectOf<"Repository"> | undefined> {
  while (performance.now() < deadline) {
    const object = await client().getObject("repositories", name, { namespace: settings.namespace });
    // Tokens are times: a later request of somebody else covers ours.
    if (object.kind === "Repository" && (object.status?.lastHandledReconcileAt ?? "") >= requested) return object;
    await wait(POLL_MS);
  }
  return undefined;
}

function printOutcome(object: ObjectOf<"Repository">, io: Io, style: Style): number {
  const status = object.status ?? {};
  const ready = isTrue(object, "Ready");
  const condition = findCondition(status.conditions, "Ready");
  const revision = shortRevision(status.lastAttemptedRevision ?? status.lastFetchedRevision) ?? "no revision";
  const mark = ready ? style.good("ready") : style.bad(condition?.reason ?? "not ready");
  say(io.stdout, `${object.metadata.name}  ${revision}  ${mark}`);
  if (!ready && condition?.message) say(io.stdout, `  ${oneLine(condition.message)}`);
  for (const line of status.plan?.actions ?? []) say(io.stdout, `  ${oneLine(line)}`);
  for (const line of diagnosticLines(status.diagnostics?.items ?? [], status.diagnostics?.count ?? 0))
    say(io.stdout, `  ${line}`);
  return ready ? 0 : 1;
}

function millisecondsOf(text: string): number {
  const milliseconds = new RegExp(DURATION_PATTERN).test(text) ? durationMs(text) : 0;
  if (milliseconds > 0) return milliseconds;
  throw new SlessError("usage_invalid", {
    cause: `--timeout ${text} is no duration; write for example 30s, 5m or 1h30m`,
    verb: "reconcile",
  });
}
