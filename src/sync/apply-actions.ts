import { type Kind, type ObjectOf, type ObjectRef, refOf, refText } from "../apis/index.ts";
import { type Action, appliedIntent } from "../plan/index.ts";
import type { ProgressEvent } from "../report/index.ts";
import { eachLimited } from "./each-limited.ts";
import { keyIn } from "./fetch-revision.ts";
import { isOfOneObject } from "./note-failure.ts";
import { OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";

type Applied = Extract<Action, { kind: "create" | "update" | "adopt" }>;

/** Writes what is new or differs: workloads first, then the triggers that name them. One bad object hurts no other. */
export async function applyActions(run: Run, deps: SyncDeps): Promise<Outcome> {
  const started = deps.clock.monotonicMs();
  const notStored = new Set(run.failures.map(({ ref }) => refText(ref)));
  const actions = run
    .plan!.actions.filter((action) => action.kind === "create" || action.kind === "update" || action.kind === "adopt")
    .filter((action) => !notStored.has(refText(refOf(action.desired.intent))));
  const isTrigger = (action: Applied) => action.desired.intent.kind === "Trigger";
  const writing = (action: Applied) => applyOne(action, run, deps);
  try {
    await eachLimited(
      actions.filter((action) => !isTrigger(action)),
      writing,
    );
    await eachLimited(actions.filter(isTrigger), writing);
  } finally {
    reportApplied(run, deps, started);
  }
  return OK;
}

function reportApplied(run: Run, deps: SyncDeps, started: number): void {
  if (run.applied.length === 0) return;
  deps.report({
    step: "applied",
    repository: keyIn(run.repository),
    revision: run.resolved!.revision,
    objects: run.applied.length,
    durationMs: deps.clock.monotonicMs() - started,
  });
}

async function applyOne(action: Applied, run: Run, deps: SyncDeps): Promise<void> {
  run.signal.throwIfAborted();
  const { desired } = action;
  const ref = refOf(desired.intent);
  try {
    const applied = await write(action, run, deps);
    run.applied.push(applied);
    if (run.memory.corrections.written(applied, deps.clock.monotonicMs())) deps.report(fightOver(ref));
    if (action.kind !== "update") run.owned += 1;
  } catch (error) {
    if (!isOfOneObject(error)) throw error;
    const { file, line, column } = desired;
    run.refused.push({ ref, file, error });
    if (error.code === "invalid_request")
      run.diagnostics.push({ code: error.code, file, line, column, message: error.message });
    else run.failures.push({ doing: "apply", ref, error });
  }
}

function fightOver(object: ObjectRef): ProgressEvent {
  const message =
    "Somebody changes or deletes it again and again, against its repository. It is put back after growing pauses; stop one of the writers, or leave the field out of the manifest.";
  return { step: "failed", object, reason: "WritersConflict", message };
}

async function write(action: Applied, run: Run, deps: SyncDeps): Promise<ObjectOf<Kind>> {
  const { store, s3Bucket } = deps;
  const applier = { uid: run.repository.metadata.uid, ...(s3Bucket !== undefined && { s3Bucket }) };
  const intent = appliedIntent(action.desired, applier, run.resolved!.revision);
  switch (action.kind) {
    case "create":
      // An apply would take over what somebody made since the plan; fields of a `create` no later apply could drop.
      return store.apply(intent, { owner: "sync", absent: true });
    case "adopt": {
      // Until now it is anybody's to change: what was compared must be what is taken over.
      const { uid, resourceVersion } = action.live.metadata;
      return store.apply(intent, { owner: "sync", uid, resourceVersion });
    }
    case "update":
      return store.apply(intent, { owner: "sync", uid: action.live.metadata.uid });
    default:
      throw new Error(`unknown action ${JSON.stringify(action satisfies never)}`);
  }
}
