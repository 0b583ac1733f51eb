import { ANNOTATIONS, type AnyObject, type ObjectOf, ownerUidOf, refOf, refText } from "../apis/index.ts";
import { type KnownObjects, knownObjects, openDesiredReader } from "../desired/index.ts";
import {
  builtOfLive,
  DEFAULT_GUARD,
  type DesiredState,
  missingTargets,
  type Plan,
  planChanges,
  refusalDiagnostics,
} from "../plan/index.ts";
import type { GitReader, Resolved } from "../source/index.ts";
import type { LiveObjects } from "./live-objects.ts";
import type { ShownPlan } from "./plan-output.ts";
import { readBuilds } from "./read-builds.ts";
import type { VerbContext } from "./verb.ts";

/** Owner of what nobody owns yet: a repository that the server does not have. */
const NOBODY = "00000000-0000-0000-0000-000000000000";

/**
 * What a state of a repository would change of what runs, as its sync would see it.
 *
 * @param request.repository that would apply it; undefined = one that the server does not have yet
 * @throws SlessError those of the reader
 */
export async function compareWithServer(
  request: {
    readonly live: LiveObjects;
    readonly repository: ObjectOf<"Repository"> | undefined;
    readonly git: GitReader;
    readonly head: Resolved;
  },
  { deps, settings }: VerbContext,
): Promise<ShownPlan> {
  const { live, repository, git, head } = request;
  const uid = repository?.metadata.uid ?? NOBODY;
  const runtimes = await deps.loadRuntimes();
  const path = repository?.spec.path ?? "";
  const reader = openDesiredReader({ git, path, namespace: settings.namespace, runtimes });
  const owned = live.objects.filter((object) => ownerUidOf(object) === uid);
  const desired = await reader.read(head, standingIn(owned));
  const plan = planFor(desired, { uid, live, spec: repository?.spec });
  const nameOf = (owner: string) => live.repositories.find(({ metadata }) => metadata.uid === owner)?.metadata.name;
  const refusals = refusalDiagnostics(plan, (owner) => nameOf(owner) ?? owner);
  const { builds, diagnostics } = await readBuilds({
    plan,
    git,
    runtimes,
    before: { live: live.objects.map(builtOfLive) },
  });
  const faults = [...desired.diagnostics, ...refusals, ...diagnostics];
  return { plan, diagnostics: faults, warnings: faults.length > 0 ? [] : missingTargets(plan, live.objects), builds };
}

/** Exit code of a comparison: 0 the same, 1 differs, 2 faults. */
export function codeOf({ plan, diagnostics }: ShownPlan): number {
  if (diagnostics.length > 0) return 2;
  return plan.actions.some(({ kind }) => kind !== "unchanged" && kind !== "leave") ? 1 : 0;
}

/** The manifests that the live objects say they stand in: as for a sync, one that is no manifest any more is a fault. */
function standingIn(owned: readonly AnyObject[]): KnownObjects {
  return knownObjects(
    owned.flatMap((object) => {
      const file = object.metadata.annotations?.[ANNOTATIONS.path];
      return file === undefined ? [] : [[refText(refOf(object)), file] as const];
    }),
  );
}

interface Planned {
  readonly uid: string;
  readonly live: LiveObjects;
  readonly spec: ObjectOf<"Repository">["spec"] | undefined;
}

function planFor(desired: DesiredState, { uid, live, spec }: Planned): Plan {
  const s3Bucket = bucketOf(live.objects, uid);
  return planChanges({
    desired,
    live: live.objects,
    repository: {
      uid,
      ...(s3Bucket === undefined ? {} : { s3Bucket }),
      prune: spec?.prune ?? true,
      guard: { ...DEFAULT_GUARD, ...spec?.deletionGuard },
    },
    isRepositoryAlive: (owner) => live.repositories.some((one) => one.metadata.uid === owner),
  });
}

/** Where the server keeps sources, as what it synced says: with another bucket everything would seem to differ. */
function bucketOf(objects: readonly AnyObject[], owner: string): string | undefined {
  for (const object of objects)
    if (ownerUidOf(object) === owner && "s3Bucket" in object.spec) return object.spec.s3Bucket;
  return undefined;
}
