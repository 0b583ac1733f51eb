import { findCondition, type ObjectKey, type ObjectOf, type RepositoryStatus } from "../apis/index.ts";
import { type Next, withFinalizer } from "../controller/index.ts";
import { type ErrorCode, isSlessError, messageOf, SlessError } from "../errors/index.ts";
import { applyActions } from "./apply-actions.ts";
import { deleteStale } from "./delete-stale.ts";
import { fetchRevision, keyIn } from "./fetch-revision.ts";
import { finalizeRepository } from "./finalize-repository.ts";
import { markHeld } from "./mark-held.ts";
import { nextAfter } from "./next-after.ts";
import { planRun } from "./plan-run.ts";
import { inputsOf, readManifests } from "./read-manifests.ts";
import { OK, type Outcome, type Reason, type Run, type Step, startRun } from "./run.ts";
import { statusAfter, suspendedStatus } from "./status-after.ts";
import type { SyncDeps } from "./sync-deps.ts";
import { tellRefusals } from "./tell-refusals.ts";
import { timeText } from "./time-text.ts";
import { uploadSources } from "./upload-sources.ts";
import { verdictOf } from "./verdict.ts";
import { lookAtWebhook } from "./webhook-condition.ts";
import { writeStatus } from "./write-status.ts";

/**
 * In this order: what serves is written before anything is deleted, and nothing is written that is not stored. Held
 * deletions are marked before anything is applied: new objects make the repository larger, and a second look after a
 * kill in between would find the same deletions within the guard.
 */
const STEPS: readonly { readonly step: Step; readonly reason: Reason }[] = [
  { step: fetchRevision, reason: "GitOperationFailed" },
  { step: readManifests, reason: "BuildFailed" },
  { step: planRun, reason: "ReconciliationFailed" },
  { step: uploadSources, reason: "ArtifactFailed" },
  { step: markHeld, reason: "ReconciliationFailed" },
  { step: applyActions, reason: "ReconciliationFailed" },
  { step: deleteStale, reason: "PruneFailed" },
  { step: tellRefusals, reason: "ReconciliationFailed" },
];

/**
 * Brings the objects of a namespace to what its Repository wants now. Level-based: it may be killed anywhere, the next
 * run comes to the same end. What a run did and found is told in one status write; an equal status is not written.
 *
 * @throws SlessError when the Repository itself can be neither read nor written
 */
export async function reconcileRepository(
  key: ObjectKey,
  deps: SyncDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<Next> {
  const present = await deps.store.get("Repository", key);
  if (!present) return forget(key, deps);
  if (present.metadata.deletionTimestamp) return finalizeRepository(present, deps);
  if (present.spec.suspend) return rest(present, deps);
  const repository = await withFinalizer(present, deps.store, "sync");
  const memory = deps.memory.of(key, repository.metadata.uid);
  const run = startRun({ repository, startedAt: deps.clock.now(), memory, signal });
  let outcome: Outcome = OK;
  for (const { step, reason } of STEPS) {
    outcome = await step(run, deps).catch((error: unknown) => toOutcome(error, reason, signal));
    if (outcome.kind !== "ok") break;
  }
  return conclude(run, outcome, deps);
}

/** The only status write of a run; only when it is durable the run counts. */
async function conclude(run: Run, outcome: Outcome, deps: SyncDeps): Promise<Next> {
  const { repository, memory } = run;
  const verdict = outcome.kind === "unchanged" ? memory.settled!.verdict : verdictOf(run, outcome);
  // That a server does not answer stays told while objects are put back.
  if (run.isFromMemory && memory.isFetchFailing && outcome.kind === "ok" && verdict.consequence === "done")
    return nextAfter(verdict, repository);
  const now = timeText(deps.clock.now());
  const withWebhook = await lookAtWebhook(repository, deps);
  const written = await writeStatus(deps.store, repository, (previous) =>
    withWebhook(statusAfter(previous, run, outcome, now), now),
  );
  if (outcome.kind !== "unchanged") {
    const isSettled = outcome.kind === "ok" && verdict.consequence !== "retry";
    memory.settled = isSettled ? { inputs: inputsOf(run), verdict } : undefined;
  }
  if (written) reportFailure(repository, written, deps);
  return nextAfter(verdict, repository);
}

/** A failure is told when it is new, not with every try. */
function reportFailure(
  repository: ObjectOf<"Repository">,
  { before, after }: { before: RepositoryStatus | undefined; after: RepositoryStatus },
  deps: SyncDeps,
): void {
  const ready = findCondition(after.conditions, "Ready");
  const was = findCondition(before?.conditions, "Ready");
  if (ready?.status !== "False" || (was?.reason === ready.reason && was.message === ready.message)) return;
  const object = { kind: "Repository", ...keyIn(repository) };
  deps.report({ step: "failed", object, reason: ready.reason, message: ready.message });
}

async function forget(key: ObjectKey, deps: SyncDeps): Promise<Next> {
  await deps.memory.forget(key);
  return { kind: "done" };
}

async function rest(repository: ObjectOf<"Repository">, deps: SyncDeps): Promise<Next> {
  const now = timeText(deps.clock.now());
  await writeStatus(deps.store, repository, (status) => suspendedStatus({ ...repository, status }, now));
  return forget(keyIn(repository), deps);
}

/** Errors that are Git's, in whatever step they come up. */
const GIT_ERRORS: ReadonlySet<ErrorCode> = new Set([
  "repository_unreachable",
  "repository_unsupported",
  "object_missing",
  "file_changed",
  "repository_empty",
  "ref_not_found",
]);

const CREDENTIAL_ERRORS: ReadonlySet<ErrorCode> = new Set(["credentials_refused", "credentials_missing"]);

function toOutcome(error: unknown, reason: Reason, signal: AbortSignal): Outcome {
  if (signal.aborted) throw error;
  const told = isSlessError(error) ? error : new SlessError("internal", { cause: messageOf(error) }, { cause: error });
  if (CREDENTIAL_ERRORS.has(told.code)) return { kind: "failed", reason: "AuthenticationFailed", error: told };
  return { kind: "failed", reason: GIT_ERRORS.has(told.code) ? "GitOperationFailed" : reason, error: told };
}
