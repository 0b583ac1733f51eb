import type { WorkloadRef } from "../../apis/index.ts";
import { messageOf } from "../../errors/index.ts";
import { byAge } from "./earlier-runs.ts";
import type { LiveReplicaSet } from "./live-objects.ts";
import type { RunDeps } from "./run-deps.ts";
import type { WantedChild } from "./wanted-children.ts";

type FormerDeps = Pick<RunDeps, "view" | "writer" | "log">;

/** Of versions that never served, one after the other. */
const UNUSED_MAX = 10;

/**
 * Removes what is left of former versions and nothing reads: all of it once the version that is wanted serves (`current`),
 * else all but the last.
 */
export async function dropFormer(
  workload: WorkloadRef,
  children: readonly WantedChild[],
  current: boolean,
  deps: FormerDeps,
): Promise<void> {
  await dropRevisions(workload, deps);
  await dropUnused(workload, children, current ? 0 : UNUSED_MAX, deps);
}

/**
 * Kubernetes keeps every revision until a rollout is complete: who changes a function that never starts again and again
 * would fill the cluster with them. Those that have no pods go, oldest first.
 */
async function dropRevisions(workload: WorkloadRef, { view, writer, log }: FormerDeps): Promise<void> {
  const owner = view.deployment(workload)?.metadata.uid;
  // A copy that somebody made of its Deployment has its labels, too.
  const isOwn = ({ metadata }: LiveReplicaSet) => metadata.ownerReferences?.some(({ uid }) => uid === owner) === true;
  const seen = owner === undefined ? [] : view.replicaSets(workload).filter(isOwn);
  if (seen.length <= UNUSED_MAX) return;
  const newest = Math.max(...seen.map(({ revision }) => revision));
  const unused = seen
    .filter(({ revision, isUsed, metadata }) => !isUsed && revision < newest && !metadata.deletionTimestamp)
    .sort((a, b) => a.revision - b.revision);
  for (const replicaSet of unused.slice(0, Math.max(0, unused.length - UNUSED_MAX))) {
    const { name } = replicaSet.metadata;
    await writer
      .remove("ReplicaSet", replicaSet)
      .catch((error: unknown) => log.warn({ name, err: messageOf(error) }, "old revision not deleted"));
  }
}

/** Values of secrets that no revision uses any more, but the last `kept` of them. */
async function dropUnused(
  workload: WorkloadRef,
  children: readonly WantedChild[],
  kept: number,
  { view, writer, log }: FormerDeps,
): Promise<void> {
  const wanted = children.map(({ metadata }) => metadata.name);
  const read = kept === 0 ? [] : view.replicaSets(workload).map(({ secret }) => secret);
  const unused = view
    .children(workload)
    .filter(({ kind, object }) => kind === "Secret" && ![...wanted, ...read].includes(object.metadata.name))
    .sort((a, b) => byAge(a.object, b.object));
  for (const { object } of unused.slice(0, Math.max(0, unused.length - kept))) {
    await writer
      .remove("Secret", object)
      .catch((error: unknown) => log.warn({ name: object.metadata.name, err: messageOf(error) }, "secret not deleted"));
  }
}
