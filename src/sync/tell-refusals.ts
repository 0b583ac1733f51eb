import { type AnyObject, APPLIED, findCondition, ownerUidOf, refOf, refText } from "../apis/index.ts";
import type { ErrorCode, SlessError } from "../errors/index.ts";
import { eachLimited } from "./each-limited.ts";
import { OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";
import { type Refusal, writeApplied } from "./write-applied.ts";

/** How a refusal is called in the condition `Applied`; what is none of these is tried again and not told there. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  cluster_refused: "AdmissionRefused",
  invalid_request: "Invalid",
  too_large: "TooLarge",
  forbidden: "Forbidden",
};

/**
 * Tells refusals at the objects themselves, as far as those exist: what was wanted of them, and by whom it was refused.
 * Takes that from those of which nothing is refused any more. What is told already costs no request.
 */
export async function tellRefusals(run: Run, deps: SyncDeps): Promise<Outcome> {
  const refusals = refusalsOf(run);
  const unknown = new Set(run.failures.map(({ ref }) => refText(ref)));
  await eachLimited(concerned(run, refusals), async (object) => {
    run.signal.throwIfAborted();
    const ref = refText(refOf(object));
    const refusal = refusals.get(ref);
    if (refusal || !unknown.has(ref)) await writeApplied(object, refusal, deps);
  });
  return OK;
}

/** What was refused in this run, by object. */
function refusalsOf(run: Run): Map<string, Refusal> {
  const ofApply = run.refused.map(({ ref, file, error }) => {
    const what = `It stays as it was, for what ${file} wants of it was refused`;
    return [refText(ref), refusalOf(what, error)] as const;
  });
  const ofDelete = run.failures
    .filter(({ doing }) => doing === "delete")
    .map(({ ref, error }) => [refText(ref), refusalOf("Its deletion was refused", error)] as const);
  return new Map([...ofApply, ...ofDelete].flatMap(([ref, refusal]) => (refusal ? [[ref, refusal] as const] : [])));
}

function refusalOf(what: string, { code, message }: SlessError): Refusal | undefined {
  const reason = REASONS[code];
  return reason === undefined ? undefined : { reason, message: `${what}: ${message}` };
}

/**
 * The repository's objects of which something is to be told, or was told before, as they are known to be now. Mostly
 * there is none, and of the others nothing but their conditions is looked at.
 */
function concerned(run: Run, refusals: ReadonlyMap<string, Refusal>): AnyObject[] {
  const { uid } = run.repository.metadata;
  const isConcerned = (object: AnyObject) =>
    findCondition(object.status?.conditions, APPLIED) !== undefined ||
    (refusals.size > 0 && refusals.has(refText(refOf(object))));
  const latest = new Map<string, AnyObject>();
  for (const action of run.plan?.actions ?? [])
    if ("live" in action && action.live && isConcerned(action.live))
      latest.set(refText(refOf(action.live)), action.live);
  for (const object of run.applied as readonly AnyObject[]) {
    const ref = refText(refOf(object));
    if (isConcerned(object)) latest.set(ref, object);
    else latest.delete(ref);
  }
  for (const ref of run.deleted) latest.delete(refText(ref));
  return [...latest.values()].filter(
    (object) => ownerUidOf(object) === uid && object.metadata.deletionTimestamp === undefined,
  );
}
