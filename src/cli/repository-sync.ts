import { setTimeout as wait } from "node:timers/promises";
import { durationMs, findCondition, isTrue, type ObjectOf } from "../apis/index.ts";
import { diagnosticLines } from "./describe.ts";
import { type Output, say } from "./io.ts";
import type { Style } from "./style.ts";
import { oneLine, shortRevision } from "./table.ts";
import type { VerbContext } from "./verb.ts";

const POLL_MS = 200;

/**
 * Asks for a sync of a repository, waits for its end and tells it; answers the exit code: 0 ready, 1 not ready or not
 * synced in time.
 *
 * @param options.within a duration: `1m`
 * @param options.to where the outcome goes
 * @throws ServerError `repository_suspended`
 */
export async function syncAndTell(
  name: string,
  { within, to }: { within: string; to: Output },
  context: VerbContext,
): Promise<number> {
  const deadline = performance.now() + durationMs(within);
  const { namespace } = context.settings;
  const { requested_at: requested } = await context.client().reconcile(name, { namespace });
  const synced = await waitForSync(name, requested, deadline, context);
  if (synced) {
    for (const line of outcomeLines(synced, context.style)) say(to, line);
    return isTrue(synced, "Ready") ? 0 : 1;
  }
  say(context.io.stderr, `${name} was not synced within ${within}; \`sless describe repository ${name}\` tells more.`);
  return 1;
}

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

function outcomeLines(object: ObjectOf<"Repository">, style: Style): string[] {
  const status = object.status ?? {};
  const ready = isTrue(object, "Ready");
  const condition = findCondition(status.conditions, "Ready");
  const revision = shortRevision(status.lastAttemptedRevision ?? status.lastFetchedRevision) ?? "no revision";
  const mark = ready ? style.good("ready") : style.bad(condition?.reason ?? "not ready");
  return [
    `${object.metadata.name}  ${revision}  ${mark}`,
    ...(!ready && condition?.message ? [`  ${oneLine(condition.message)}`] : []),
    ...(status.plan?.actions ?? []).map((line) => `  ${oneLine(line)}`),
    ...diagnosticLines(status.diagnostics?.items ?? [], status.diagnostics?.count ?? 0).map((line) => `  ${line}`),
  ];
}
