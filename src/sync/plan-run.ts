import { type AnyObject, refOf, refText } from "../apis/index.ts";
import {
  type Action,
  DEFAULT_GUARD,
  isWriting,
  type Plan,
  refOfAction,
  refusalDiagnostics,
  toLine,
} from "../plan/index.ts";
import { keyIn } from "./fetch-revision.ts";
import { type LiveObjects, readAgain } from "./live-reads.ts";
import { OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** Lines of a plan that are told as progress. */
const LINES_MAX = 100;

/** Compares what is wanted with what is live. What the plan would touch is read again first, for caches lag. */
export async function planRun(run: Run, deps: SyncDeps): Promise<Outcome> {
  const started = deps.clock.monotonicMs();
  const live = run.live!;
  let plan = planWith(run, deps, live);
  const touched = touchedBy(plan);
  const fresh = await readAgain(deps.store, live, run.repository.metadata.namespace, touched);
  if (fresh !== live) plan = planWith(run, deps, fresh);
  run.plan = plan;
  run.diagnostics.push(...refusalDiagnostics(plan, (uid) => nameOf(uid, live, run.repository.metadata.namespace)));
  const changes = plan.actions.filter((action) => isWriting(action));
  if (changes.length > 0) {
    deps.report({
      step: "planned",
      repository: keyIn(run.repository),
      revision: plan.revision,
      changes: changes.slice(0, LINES_MAX).map(toLine),
      durationMs: (run.readingMs ?? 0) + deps.clock.monotonicMs() - started,
    });
  }
  return OK;
}

function planWith(run: Run, deps: SyncDeps, live: LiveObjects): Plan {
  const { spec, metadata } = run.repository;
  return run.memory.planner({
    desired: run.desired!,
    live: live.items,
    repository: {
      uid: metadata.uid,
      ...(deps.s3Bucket !== undefined && { s3Bucket: deps.s3Bucket }),
      prune: spec.prune ?? true,
      guard: { ...DEFAULT_GUARD, ...spec.deletionGuard },
    },
    isRepositoryAlive: (uid) => live.repositories.has(uid),
  });
}

/** The objects that a plan is about to do something with, as they were when it was made. */
function touchedBy(plan: Plan) {
  const untouched: Action["kind"][] = ["unchanged", "leave"];
  const actions = plan.actions.filter((action) => !untouched.includes(action.kind));
  return [
    ...actions.map((action) => ({ ref: refOfAction(action), live: liveOf(action) })),
    ...plan.release.map((object) => ({ ref: refOf(object), live: object })),
  ];
}

/** The live object of the action's own name, which "name taken" and "wait" need not be about. */
function liveOf(action: Action): AnyObject | undefined {
  const live = "live" in action ? action.live : undefined;
  return live && refText(refOf(live)) === refText(refOfAction(action)) ? live : undefined;
}

/** Names a repository to those who read this one's status, who may know nothing of other namespaces. */
function nameOf(uid: string, live: LiveObjects, namespace: string): string {
  const key = live.repositories.get(uid);
  return key?.namespace === namespace ? key.name : "one of another namespace";
}
