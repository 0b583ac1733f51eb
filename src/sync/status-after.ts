import {
  ANNOTATIONS,
  type ConditionUpdate,
  conditionsAfter,
  findCondition,
  type ObjectOf,
  type RepositoryStatus,
  STATUS_LIST_MAX,
  webhookPathOf,
  withOutlook,
} from "../apis/index.ts";
import { isWriting, type Plan, planCounts, toLine } from "../plan/index.ts";
import { diagnosticsOf, type Outcome, type Run } from "./run.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

const HISTORY_MAX = 5;

/**
 * The status that says what a run found and did. What the run did not reach keeps its old value; with nothing new
 * the result equals the old status. Pure.
 *
 * @param previous the status before
 * @param now RFC 3339
 */
export function statusAfter(
  previous: RepositoryStatus | undefined,
  run: Run,
  outcome: Outcome,
  now: string,
): RepositoryStatus {
  const { repository } = run;
  if (outcome.kind === "unchanged") return { ...previous };
  const requestedAt = repository.metadata.annotations?.[ANNOTATIONS.requestedAt];
  const verdict = verdictOf(run, outcome);
  const generation = repository.metadata.generation;
  return withoutUndefined({
    ...previous,
    ...(requestedAt !== undefined && { lastHandledReconcileAt: requestedAt }),
    observedGeneration: generation,
    webhookPath: webhookPathOf(repository),
    conditions: conditionsAfter(previous?.conditions, conditionsOf(verdict, generation), now),
    ...revisionsOf(run, verdict),
    ...(run.plan && foundOf(previous, run, run.plan)),
    ...(run.desired && { diagnostics: diagnosticsIn(run) }),
    ...(run.attempted && { history: historyAfter(previous, run, verdict, now) }),
  });
}

/** The status of a repository that rests: what it last came to stays, `Ready` says why nothing happens. Pure. */
export function suspendedStatus(repository: ObjectOf<"Repository">, now: string): RepositoryStatus {
  const { status, metadata } = repository;
  const ready = findCondition(status?.conditions, "Ready");
  const applied = status?.lastAppliedRevision;
  const update: ConditionUpdate = {
    type: "Ready",
    status: ready?.status ?? "Unknown",
    reason: "Suspended",
    message: `Suspended; ${applied ? `last applied revision: ${applied}` : "nothing was applied yet"}.`,
    observedGeneration: metadata.generation,
  };
  return withoutUndefined({
    ...status,
    observedGeneration: metadata.generation,
    webhookPath: webhookPathOf(repository),
    conditions: conditionsAfter(status?.conditions, withOutlook(update, "Stalled"), now),
  });
}

/**
 * `Ready` always; else `Reconciling` while it is tried again, or `Stalled` when somebody must act: change the spec, push
 * other files, approve (kstatus).
 */
function conditionsOf({ reason, message, consequence }: Verdict, observedGeneration: number): ConditionUpdate[] {
  const same = { message, observedGeneration };
  const ready: ConditionUpdate = { ...same, type: "Ready", status: consequence === "done" ? "True" : "False", reason };
  if (consequence === "retry")
    return [ready, { ...same, type: "Reconciling", status: "True", reason: "ProgressingWithRetry" }];
  return withOutlook(ready, "Stalled");
}

function revisionsOf(run: Run, verdict: Verdict): Partial<RepositoryStatus> {
  const revision = run.resolved?.revision;
  if (revision === undefined) return {};
  return {
    lastFetchedRevision: revision,
    ...(run.attempted && { lastAttemptedRevision: revision }),
    ...(verdict.consequence === "done" && { lastAppliedRevision: revision }),
  };
}

function foundOf(previous: RepositoryStatus | undefined, run: Run, plan: Plan): Partial<RepositoryStatus> {
  return { inventory: { count: run.owned }, plan: planAfter(previous?.plan, plan) };
}

type PlanStatus = NonNullable<RepositoryStatus["plan"]>;

/** The last plan that did or held something stays until another one does, or another revision is planned. */
function planAfter(previous: PlanStatus | undefined, plan: Plan): PlanStatus {
  const told = plan.actions.filter((action) => action.kind !== "unchanged");
  const next = {
    revision: plan.revision,
    counts: planCounts(plan),
    actions: told.slice(0, STATUS_LIST_MAX).map(toLine),
  };
  if (previous?.revision !== plan.revision || told.some(isWriting)) return next;
  const pending = told.filter(({ kind }) => kind === "hold" || kind === "refuse").map(toLine);
  const isTold = next.counts.hold === previous.counts.hold && next.counts.refuse === previous.counts.refuse;
  const lines = new Set(previous.actions);
  return isTold && pending.slice(0, STATUS_LIST_MAX).every((line) => lines.has(line)) ? previous : next;
}

function diagnosticsIn(run: Run): RepositoryStatus["diagnostics"] {
  const all = diagnosticsOf(run);
  return all.length === 0 ? undefined : { count: all.length, items: all.slice(0, STATUS_LIST_MAX) };
}

/** Newest first; a run that comes to the same as the newest entry adds none. */
function historyAfter(
  previous: RepositoryStatus | undefined,
  run: Run,
  { reason, message }: Verdict,
  time: string,
): RepositoryStatus["history"] {
  const history = previous?.history ?? [];
  const revision = run.resolved!.revision;
  if (history[0]?.revision === revision && history[0].outcome === reason) return history;
  return [{ revision, time, outcome: reason, message }, ...history].slice(0, HISTORY_MAX);
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
