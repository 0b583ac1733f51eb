import { resolve } from "node:path";
import { type ObjectOf, type ObjectRef, refOf } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import {
  deeperOf,
  type FolderState,
  folderRepository,
  goneFrom,
  neverDeployed,
  openFolder,
  type PullFolder,
  type PullOptions,
  type PullResult,
  plainPath,
  pullFolder,
  refused,
} from "../pull/index.ts";
import { type ChosenObjects, chosenObjects, ONLY_OPTION } from "./chosen-objects.ts";
import { findRepository } from "./find-repository.ts";
import { kindNamed } from "./kind-names.ts";
import { type LiveObjects, liveObjects } from "./live-objects.ts";
import { SUMMARY_FORMS, type SummaryForm, writePull } from "./pull-summary.ts";
import { CLIENT_OPTIONS, type Verb, type VerbContext } from "./verb.ts";

interface PullFlags {
  readonly into: string;
  readonly only?: readonly string[];
  readonly repository?: string;
  readonly prune?: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly output: SummaryForm;
}

const VERB = "pull";
const INTERRUPTED = 130;

export const pull: Verb<PullFlags> = {
  name: VERB,
  summary: "Write what the server has into a folder: manifests and code",
  options: [
    {
      flags: "--into <folder>",
      description: "folder of the repository, or any other; made when missing",
      required: true,
    },
    ONLY_OPTION,
    {
      flags: "--repository <name>",
      description: "the repository that the folder is of, when its remote does not tell",
      completes: ["repositories"],
    },
    { flags: "--prune", description: "remove what is not on the server any more" },
    { flags: "--force", description: "overwrite and remove what is not committed too" },
    { flags: "--dry-run", description: "only say what would be done; exit code 1 when something would" },
    { flags: "-o, --output <form>", description: "form of the summary", choices: SUMMARY_FORMS, fallback: "text" },
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "sless pull --into .", does: "all objects of this repository and those of nobody" },
    { line: "sless pull --into . --only function/hello", does: "one function" },
    { line: "sless pull --into . --prune --dry-run", does: "what would change, removals included" },
  ],
  async run(_args, options, context) {
    const chosen = chosenObjects(options.only, VERB);
    const place = await placeOf(options.into, context);
    const live = await liveObjects(context, VERB);
    const repository = await folderRepository(live.repositories, place, options.repository);
    const result = await pullFolder(await pullRequest(options, { place, live, repository, chosen }, context));
    await writePull(result, { form: options.output, into: options.into, isDryRun: options.dryRun ?? false }, context);
    return exitCode(result, options);
  },
};

function exitCode({ rows, isInterrupted }: PullResult, { dryRun }: PullFlags): number {
  if (isInterrupted) return INTERRUPTED;
  if (rows.some(({ action }) => action === "failed")) return 2;
  const isIncomplete = rows.some(({ isFault }) => isFault);
  const wouldChange = rows.some(
    ({ action }) => action === "created" || action === "configured" || action === "deleted",
  );
  return isIncomplete || (dryRun && wouldChange) ? 1 : 0;
}

async function placeOf(into: string, { io, deps }: VerbContext): Promise<PullFolder> {
  const folder = resolve(io.cwd, into);
  const top = await findRepository(folder).catch((error: unknown) => {
    if (isSlessError(error, "not_a_repository")) return undefined;
    throw error;
  });
  return openFolder({ into: folder, top, openGit: deps.openGitReader });
}

interface Parts {
  readonly place: PullFolder;
  readonly live: LiveObjects;
  readonly repository: ObjectOf<"Repository"> | undefined;
  readonly chosen: ChosenObjects;
}

async function pullRequest(
  options: PullFlags,
  { place, live, repository, chosen }: Parts,
  { io, deps, settings, client }: VerbContext,
): Promise<PullOptions> {
  const { namespace } = settings;
  const { prune = false, force = false, dryRun = false } = options;
  return {
    place,
    scope: scopeOf(place, repository),
    namespace,
    live: live.objects,
    repository: repository?.metadata.uid,
    repositoryNames: new Map(live.repositories.map(({ metadata }) => [metadata.uid, metadata.name])),
    isChosen: (ref) => chosen.has(ref),
    runtimes: (await deps.loadRuntimes()).keys(),
    download: (ref) => client().source(kindNamed(ref.kind, VERB).plural as "functions", ref.name, { namespace }),
    async neverDeployed(folder) {
      chosen.check([...live.objects.map((object) => refOf(object) as ObjectRef), ...refsIn(folder)]);
      if (!repository || !place.checkout) return undefined;
      const gone = goneFrom(folder, live.objects);
      if (gone.size === 0) return new Map();
      const git = await deps.openGitReader(place.root);
      return neverDeployed({ folder, gone, repository, git }).finally(() => git.close());
    },
    prune,
    force,
    dryRun,
    signal: io.signal,
  };
}

function refsIn({ definitions }: FolderState): ObjectRef[] {
  return [...definitions.objects.values()].map(({ object }) => refOf(object.intent));
}

/** The part of the folder that the repository follows. */
function scopeOf({ folder }: PullFolder, repository: ObjectOf<"Repository"> | undefined): string {
  if (!repository) return folder;
  const path = plainPath(repository.spec.path);
  const scope = deeperOf(folder, path);
  if (scope !== undefined) return scope;
  throw refused(`repository ${repository.metadata.name} follows only ${path}, not ${folder}`);
}
