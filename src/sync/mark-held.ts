import { ANNOTATIONS, type AnyObject, HELD, LABELS, refOf } from "../apis/index.ts";
import type { Action } from "../plan/index.ts";
import { eachLimited } from "./each-limited.ts";
import { noteFailure } from "./note-failure.ts";
import { OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";

/**
 * Marks objects whose deletion the guard holds, so that an approval finds exactly them, and takes the mark, and an
 * approval with it, from those that are wanted again or stay on purpose.
 */
export async function markHeld(run: Run, deps: SyncDeps): Promise<Outcome> {
  const { actions, release } = run.plan!;
  const held = actions.flatMap((action) => (isHeldByGuard(action) && !hasHeldLabel(action.live) ? [action.live] : []));
  const staying = actions.flatMap((action) => (staysOnPurpose(action) ? [action.live] : []));
  const freed = [...release, ...staying].filter((object) => hasHeldLabel(object) || hasApproval(object));
  await eachLimited(held, (object) => noteFailure(run, "mark", object, () => label(object, deps)));
  await eachLimited(freed, (object) => noteFailure(run, "mark", object, () => free(object, deps)));
  return OK;
}

type Held = Extract<Action, { kind: "hold" }>;

function isHeldByGuard(action: Action): action is Held {
  return action.kind === "hold" && action.because === "guard";
}

/** Not those that are blocked: what their files want is not known. */
function staysOnPurpose(action: Action): action is Extract<Action, { kind: "leave" }> & { live: AnyObject } {
  return action.kind === "leave" && action.because !== "blocked" && action.live !== undefined;
}

function hasHeldLabel({ metadata }: AnyObject): boolean {
  return metadata.labels?.[LABELS.deletion] === HELD;
}

function hasApproval({ metadata }: AnyObject): boolean {
  return metadata.annotations?.[ANNOTATIONS.deletionApproved] !== undefined;
}

async function label({ kind, metadata }: AnyObject, { store }: SyncDeps): Promise<void> {
  const { name, namespace, uid } = metadata;
  const labels = { [LABELS.deletion]: HELD };
  await store.apply({ kind, metadata: { name, namespace, labels }, spec: {} }, { owner: "hold", uid });
}

async function free(object: AnyObject, { store }: SyncDeps): Promise<void> {
  const patch = {
    metadata: { labels: { [LABELS.deletion]: null }, annotations: { [ANNOTATIONS.deletionApproved]: null } },
  };
  await store.patch(object.kind, refOf(object), patch, { owner: "hold", uid: object.metadata.uid });
}
