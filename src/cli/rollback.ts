import { resolve } from "node:path";
import { sourceDigestOfKey, type WorkloadRef } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { plainPath } from "../pull/index.ts";
import { checkoutGit, pickRevision, type RollbackResult, rollBack } from "../rollback/index.ts";
import type { RepositoryItem, WorkloadItem } from "../server/client.ts";
import { findGit } from "../source/index.ts";
import { findRepository, hasWorktree } from "./find-repository.ts";
import { say } from "./io.ts";
import { nameOf } from "./kind-names.ts";
import { inForm, RESULT_OPTION, type ResultForm } from "./output.ts";
import { rollbackDocument, rollbackLines, type ToldRevision, toldRevision } from "./rollback-summary.ts";
import { READ_OPTIONS, type Verb, type VerbContext, workloadArguments } from "./verb.ts";
import { workloadNamed } from "./workload-named.ts";

interface RollbackFlags {
  readonly to?: string;
  readonly repo: string;
  readonly dryRun?: boolean;
  readonly output?: ResultForm;
}

const VERB = "rollback";

export const rollback: Verb<RollbackFlags> = {
  name: VERB,
  endsOnSignal: true,
  summary: "Make the commit that takes a function or service back to what served before; it is not pushed",
  arguments: workloadArguments("functions", "services"),
  options: [
    { flags: "--to <revision>", description: "number, digest or commit of `sless history` (default: the one before)" },
    { flags: "--repo <path>", description: "checkout of the repository that it is deployed from", fallback: "." },
    { flags: "--dry-run", description: "only show what the commit would change; exit code 1" },
    RESULT_OPTION,
    ...READ_OPTIONS,
  ],
  examples: [
    { line: "sless rollback hello && git push", does: "go back to what served before, and deploy it" },
    { line: "sless rollback hello --to 3 --dry-run", does: "what would change to have revision 3 again?" },
  ],
  async run(args, flags, context) {
    const { io, style } = context;
    const asked = await askServer(args, flags.to, context);
    const result = await inCheckout(asked, flags, context);
    const told = { ...asked, result, followed: asked.repository?.ref.branch };
    if (flags.output) io.stdout.write(inForm(flags.output, rollbackDocument(told), [nameOf(asked.ref)]));
    else for (const line of rollbackLines(told, style, new Date())) say(io.stdout, line);
    return flags.dryRun ? 1 : 0;
  },
};

interface Asked {
  readonly ref: WorkloadRef;
  readonly target: ToldRevision;
  /** That it is deployed from; undefined when it is gone. */
  readonly repository: RepositoryItem | undefined;
}

async function askServer(
  args: readonly string[],
  to: string | undefined,
  { client, settings }: VerbContext,
): Promise<Asked> {
  const { namespace } = settings;
  const server = client();
  const among = ["functions", "services"] as const;
  const { plural, name } = await workloadNamed(args, { client: server, namespace, among, verb: VERB });
  const ref: WorkloadRef = { kind: plural === "functions" ? "Function" : "Service", namespace, name };
  const [item, history, repositories] = await Promise.all([
    server.get(plural, name, { namespace }) as Promise<WorkloadItem>,
    server.history(plural, name, { namespace }),
    server.list("repositories", { namespace }),
  ]);
  const wantedDigest = sourceDigestOfKey(ref, item.s3_key);
  const target = pickRevision(history.map(toldRevision), { ref, to, wantedDigest });
  return { ref, target, repository: repositories.find((one) => one.name === item.repository?.name) };
}

async function inCheckout(
  { ref, target, repository }: Asked,
  { repo, dryRun = false }: RollbackFlags,
  { io, deps, settings }: VerbContext,
): Promise<RollbackResult> {
  const root = await findRepository(resolve(io.cwd, repo));
  if (!(await hasWorktree(root)))
    throw new SlessError("usage_invalid", { cause: `${root} is a bare repository; name a checkout of it`, verb: VERB });
  const git = await findGit(settings.path);
  if (git === undefined) throw new SlessError("repository_unsupported", { url: root, cause: "a commit needs git" });
  const reader = await deps.openGitReader(root);
  try {
    return await rollBack({
      ref,
      target,
      root,
      path: plainPath(repository?.path),
      runtimes: new Set((await deps.loadRuntimes()).keys()),
      reader,
      git: checkoutGit({ git, root, env: io.env }),
      dryRun,
    });
  } finally {
    await reader.close();
  }
}
