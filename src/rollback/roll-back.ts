import { refText, type WorkloadRef } from "../apis/index.ts";
import { readDefinitions } from "../desired/index.ts";
import { isSlessError, SlessError } from "../errors/index.ts";
import { filesOf } from "../pull/index.ts";
import { type GitReader, type Resolved, sourceDigest } from "../source/index.ts";
import type { CheckoutGit, FileLines } from "./checkout-git.ts";
import { commitOf, refusal, type ServedRevision } from "./pick-revision.ts";
import { type CommitView, type FileChange, planRollback, type RollbackPlan } from "./plan-rollback.ts";

export interface RollbackRequest {
  readonly ref: WorkloadRef;
  readonly target: ServedRevision;
  /** Top folder of the checkout. */
  readonly root: string;
  /** Folder of the repository that is deployed; "" = all. */
  readonly path: string;
  /** Names of runtimes that manifests may name. */
  readonly runtimes: ReadonlySet<string>;
  readonly reader: GitReader;
  readonly git: CheckoutGit;
  readonly dryRun: boolean;
}

export interface RollbackResult {
  /** Folders and manifests that went back. */
  readonly places: readonly string[];
  readonly changes: readonly (FileChange & FileLines)[];
  /** The one whose files were restored. */
  readonly from: string;
  readonly branch: string;
  /** The one that was made; undefined in a dry run. */
  readonly commit: string | undefined;
  /** The source is again the one that served, so that its image serves it without a build. */
  readonly isSameSource: boolean;
}

/**
 * Makes the commit that restores a workload's folder and manifest as they stood in the commit of a revision, on the
 * branch that is checked out. When it cannot be made, the checkout is as it was.
 *
 * @throws SlessError `rollback_refused`, `rollback_unsaved`, `rollback_commit_missing`, `rollback_failed`, and those of
 *   the reader
 */
export async function rollBack(request: RollbackRequest): Promise<RollbackResult> {
  const { ref, target, git, dryRun } = request;
  const from = commitOf(target, ref);
  const head = await headOf(request);
  const old = await oldCommit(from, request);
  const plan = planRollback(ref, await viewOf(old, request), await viewOf(head, request));
  await refuseUnsaved(plan, request);
  const lines = await git.lines(head.commit, old.commit);
  const result = {
    places: plan.places,
    changes: plan.changes.map((change) => ({ ...change, ...(lines.get(change.path) ?? UNKNOWN_LINES) })),
    from,
    branch: head.name!,
  };
  if (dryRun) return { ...result, commit: undefined, isSameSource: plan.sourceDigest === target.sourceDigest };
  const commit = await commitFiles(plan, { head: head.commit, from }, request);
  return { ...result, commit, isSameSource: (await presentDigest(request)) === target.sourceDigest };
}

const UNKNOWN_LINES: FileLines = { added: undefined, deleted: undefined };

async function headOf({ ref, reader, git }: RollbackRequest): Promise<Resolved> {
  const operation = await git.operation();
  if (operation) throw refusal(ref, `a ${operation} has begun in this checkout; end it first`);
  const head = await reader.resolve({});
  if (head.name === undefined) throw refusal(ref, "no branch is checked out; `git switch` to the one that is deployed");
  return head;
}

async function oldCommit(commit: string, { ref, reader, root }: RollbackRequest): Promise<Resolved> {
  try {
    return await reader.resolveExpression(commit);
  } catch (error) {
    if (!isSlessError(error, "ref_not_found") && !isSlessError(error, "object_missing")) throw error;
    throw new SlessError("rollback_commit_missing", { what: refText(ref), commit, folder: root }, { cause: error });
  }
}

/** A commit that lacks the followed folder has nothing of it. */
async function viewOf({ tree }: Resolved, { ref, reader, path, runtimes }: RollbackRequest): Promise<CommitView> {
  try {
    const definitions = await readDefinitions({ git: reader, tree, path, namespace: ref.namespace, runtimes });
    return { definitions, files: await filesOf(reader, tree, path) };
  } catch (error) {
    if (!isSlessError(error, "path_not_found")) throw error;
    const definitions = { objects: new Map(), blocked: new Map(), faulty: new Map(), manifests: new Set<string>() };
    return { definitions, files: new Map() };
  }
}

/** What is not committed could not be had back, and what is staged would go into the commit. */
async function refuseUnsaved({ isOwn, changes }: RollbackPlan, { ref, git }: RollbackRequest): Promise<void> {
  const unsaved = (await git.unsaved()).filter(({ path, isStaged }) => isStaged || isOwn(path));
  const inTheWay: string[] = [];
  for (const path of newPaths(changes)) if (await git.isFile(path)) inTheWay.push(path);
  const paths = [...new Set([...unsaved.map(({ path }) => path), ...inTheWay])];
  if (paths.length === 0) return;
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  throw new SlessError("rollback_unsaved", { what: refText(ref), paths: paths.slice(0, 3).join(", ") + more });
}

/** Where a file comes to be, or a folder for it; what Git ignores there would be overwritten unseen. */
function newPaths(changes: readonly FileChange[]): Set<string> {
  const paths = new Set<string>();
  for (const { path, change } of changes) {
    const parts = path.split("/");
    if (change === "added") for (const index of parts.keys()) paths.add(parts.slice(0, index + 1).join("/"));
  }
  for (const { path, change } of changes) if (change === "deleted") paths.delete(path);
  return paths;
}

async function commitFiles(
  { changes, places }: RollbackPlan,
  { head, from }: { readonly head: string; readonly from: string },
  { ref, target, git }: RollbackRequest,
): Promise<string> {
  const added = pathsOf(changes, "added");
  const modified = pathsOf(changes, "modified");
  const deleted = pathsOf(changes, "deleted");
  try {
    await git.restore(from, { present: [...added, ...modified], absent: deleted });
    return await git.commit(messageOf(ref, target, places, from));
  } catch (error) {
    // Of two failures the first one is told.
    await git.restore(head, { present: [...modified, ...deleted], absent: added }).catch(() => undefined);
    throw error;
  }
}

function pathsOf(changes: readonly FileChange[], of: FileChange["change"]): string[] {
  return changes.filter(({ change }) => change === of).map(({ path }) => path);
}

function messageOf(ref: WorkloadRef, target: ServedRevision, places: readonly string[], from: string): string {
  return [
    `Roll ${ref.name} back to ${from.slice(0, 7)}`,
    "",
    `Restores ${places.join(", ")} as in ${from}`,
    `(revision ${target.number} of ${refText(ref)}, source ${target.sourceDigest.slice(0, 12)}).`,
    "",
  ].join("\n");
}

/** Ignore files around the folder decide too what its source is. */
async function presentDigest(request: RollbackRequest): Promise<string | undefined> {
  const { definitions } = await viewOf(await request.reader.resolve({}), request);
  const present = definitions.objects.get(refText(request.ref));
  return present && sourceDigest(present.sourceFiles);
}
