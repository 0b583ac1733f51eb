import { resolve } from "node:path";
import {
  ANNOTATIONS,
  type AnyObject,
  type Diagnostic,
  type ObjectOf,
  ownerUidOf,
  REPOSITORY_CONTENT_KINDS,
  refOf,
  refText,
} from "../apis/index.ts";
import { type KnownObjects, openDesiredReader } from "../desired/index.ts";
import { SlessError } from "../errors/index.ts";
import {
  DEFAULT_GUARD,
  type DesiredState,
  PLAN_FORMATS,
  type Plan,
  type PlanFormat,
  planChanges,
  refusalDiagnostics,
  renderPlan,
} from "../plan/index.ts";
import type { SlessClient } from "../server/client.ts";
import { findRepository } from "./find-repository.ts";
import { kindNamed } from "./kind-names.ts";
import { repositoryArgument } from "./repository-argument.ts";
import { CLIENT_OPTIONS, OPTIONAL_REPOSITORY_ARGUMENTS, type Verb, type VerbContext } from "./verb.ts";

interface DiffOptions {
  readonly repo: string;
  readonly head: string;
  readonly output: PlanFormat;
}

const VERB = "diff";

export const diff: Verb<DiffOptions> = {
  name: VERB,
  summary: "Show what a commit of a repository would change against what runs",
  arguments: OPTIONAL_REPOSITORY_ARGUMENTS,
  options: [
    { flags: "--repo <path>", description: "local clone, bare or not", fallback: "." },
    { flags: "--head <commit>", description: "branch, tag or commit to compare", fallback: "HEAD" },
    { flags: "-o, --output <form>", description: "form of the plan", choices: PLAN_FORMATS, fallback: "text" },
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "sless diff", does: "this clone's HEAD; exit code 0 the same, 1 differs, 2 faults" },
    { line: "sless diff repository example --head v1.2", does: "what going back to a tag would change" },
  ],
  async run(args, { repo, head, output }, context) {
    const { io, style } = context;
    const live = await readLive(repositoryArgument(args, VERB), context);
    const desired = await readDesired(resolve(io.cwd, repo), head, live, context);
    const plan = planFor(desired, live);
    const diagnostics = [...desired.diagnostics, ...refusals(plan, live)];
    io.stdout.write(renderPlan(plan, { format: output, color: style.colored, diagnostics }));
    if (diagnostics.length > 0) return 2;
    return plan.actions.some(({ kind }) => kind !== "unchanged" && kind !== "leave") ? 1 : 0;
  },
};

/** A repository of the server, and all that stands in its namespace. */
interface Live {
  readonly repository: ObjectOf<"Repository">;
  /** All of the namespace. */
  readonly repositories: readonly AnyObject[];
  readonly objects: readonly AnyObject[];
}

async function readLive(name: string | undefined, { settings, client }: VerbContext): Promise<Live> {
  const { namespace } = settings;
  const list = (plural: Parameters<SlessClient["listObjects"]>[0]) => client().listObjects(plural, { namespace });
  const [repositories, ...lists] = await Promise.all([
    list("repositories"),
    ...REPOSITORY_CONTENT_KINDS.map((kind) => list(kindNamed(kind, VERB).plural)),
  ]);
  return { repository: chosen(name, repositories!, namespace), repositories: repositories!, objects: lists.flat() };
}

function chosen(name: string | undefined, all: readonly AnyObject[], namespace: string): ObjectOf<"Repository"> {
  const found = all.filter(({ metadata }) => name === undefined || metadata.name === name);
  const [only] = found;
  if (only?.kind === "Repository" && found.length === 1) return only;
  if (name !== undefined) throw new SlessError("not_found", { what: `Repository ${namespace}/${name}` });
  const names = all.map(({ metadata }) => metadata.name).join(", ");
  const cause = names ? `name one of the repositories ${names}` : `namespace ${namespace} has no repository`;
  throw new SlessError("usage_invalid", { cause, verb: VERB });
}

async function readDesired(
  folder: string,
  head: string,
  { repository, objects }: Live,
  { deps, settings }: VerbContext,
): Promise<DesiredState> {
  const git = await deps.openGitReader(await findRepository(folder));
  try {
    const runtimes = await deps.loadRuntimes();
    const path = repository.spec.path ?? "";
    const reader = openDesiredReader({ git, path, namespace: settings.namespace, runtimes });
    const owned = objects.filter((object) => ownerUidOf(object) === repository.metadata.uid);
    return await reader.read(await git.resolveExpression(head), standingIn(owned));
  } finally {
    await git.close();
  }
}

/** The manifests that the live objects say they stand in: as for a sync, one that is no manifest any more is a fault. */
function standingIn(owned: readonly AnyObject[]): KnownObjects {
  const manifestFiles = new Map<string, string[]>();
  for (const object of owned) {
    const file = object.metadata.annotations?.[ANNOTATIONS.path];
    if (file !== undefined) manifestFiles.set(file, [...(manifestFiles.get(file) ?? []), refText(refOf(object))]);
  }
  return { manifestFiles };
}

function planFor(desired: DesiredState, { repository, repositories, objects }: Live): Plan {
  const { spec, metadata } = repository;
  const s3Bucket = bucketOf(objects, metadata.uid);
  return planChanges({
    desired,
    live: objects,
    repository: {
      uid: metadata.uid,
      ...(s3Bucket === undefined ? {} : { s3Bucket }),
      prune: spec.prune ?? true,
      guard: { ...DEFAULT_GUARD, ...spec.deletionGuard },
    },
    isRepositoryAlive: (uid) => repositories.some((one) => one.metadata.uid === uid),
  });
}

/** Where the server keeps sources, as what it synced says: with another bucket everything would seem to differ. */
function bucketOf(objects: readonly AnyObject[], owner: string): string | undefined {
  for (const object of objects)
    if (ownerUidOf(object) === owner && "s3Bucket" in object.spec) return object.spec.s3Bucket;
  return undefined;
}

function refusals(plan: Plan, { repositories }: Live): Diagnostic[] {
  const nameOf = (uid: string) => repositories.find(({ metadata }) => metadata.uid === uid)?.metadata.name ?? uid;
  return refusalDiagnostics(plan, nameOf);
}
