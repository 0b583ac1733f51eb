import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { readStoreSettings, type StoreSettings } from "../config/index.ts";
import { isSlessError, messageOf, SlessError } from "../errors/index.ts";
import { makeFolder, type RefRequest } from "../source/index.ts";
import type { EmbeddedApp, EmbeddedOptions } from "./embedded-app.ts";
import { makeExampleRepository } from "./example-repository.ts";
import { findRepository, hasWorktree, isRepository } from "./find-repository.ts";
import { firstLook } from "./first-look.ts";
import { say } from "./io.ts";
import { openProgress, type Progress } from "./progress.ts";
import type { Verb, VerbContext } from "./verb.ts";

interface DevOptions {
  readonly repo?: string;
  readonly worktree?: string;
  readonly ref?: string;
  readonly path: string;
  readonly example?: boolean;
  readonly s3Endpoint?: string;
  readonly s3Bucket?: string;
  readonly registry?: string;
  readonly registryMirror?: string;
  readonly registryConfig?: string;
}

/** A clean stop takes no longer; what is not ended by then is left to the next start. */
const CLOSE_WITHIN_MS = 10_000;
/** The first build of a language may take a minute; nobody shall think that nothing happens. */
const REMIND_MS = 10_000;

export const dev: Verb<DevOptions> = {
  name: "dev",
  endsOnSignal: true,
  summary: "Run a local repository on this machine and follow its pushes, or its files as they are saved",
  options: [
    { flags: "--repo <path>", description: "local repository, bare or not (default: .)" },
    { flags: "--worktree <folder>", description: "follow the files as they lie there, uncommitted edits too" },
    { flags: "--ref <name>", description: "branch, tag or commit to follow (default: HEAD)" },
    { flags: "--path <folder>", description: "only this folder of the repository", fallback: "", mayBeEmpty: true },
    {
      flags: "-n, --namespace <name>",
      description: "namespace (SLESS_NAMESPACE; default: default)",
      setting: "namespace",
    },
    {
      flags: "--data <folder>",
      description: "where everything is kept (SLESS_DATA; default: .sless)",
      setting: "data",
    },
    { flags: "--port <port>", description: "port on 127.0.0.1 (PORT; default: 9090)", setting: "port" },
    { flags: "--example", description: "make <data>/example.git from the example functions and run that" },
    {
      flags: "--s3-bucket <name>",
      description: "keep sources in this bucket (S3_BUCKET; keys: S3_ACCESS_KEY, S3_SECRET_KEY)",
    },
    { flags: "--s3-endpoint <url>", description: "S3 server of the bucket (S3_ENDPOINT; default: AWS)" },
    {
      flags: "--registry <host>",
      description: "make images in this registry, and run what was pushed (REGISTRY_HOST)",
    },
    { flags: "--registry-mirror <host>", description: "registry that answers for docker.io (REGISTRY_MIRROR)" },
    { flags: "--registry-config <file>", description: "docker config with its credentials (REGISTRY_CONFIG)" },
  ],
  examples: [
    { line: "sless dev", does: "the repository around this folder" },
    { line: "sless dev --repo ../shop.git --ref main --port 8080", does: "another one, on another port" },
    { line: "sless dev --worktree .", does: "saving a file is enough: nothing need be committed" },
    { line: "sless dev --example", does: "the example, as npm start does" },
    {
      line: "sless dev --s3-endpoint http://127.0.0.1:7070 --s3-bucket sless --registry 127.0.0.1:5000",
      does: "the way of a cluster",
    },
  ],
  async run(_args, options, context) {
    const { io, deps, settings, style } = context;
    const data = resolve(io.cwd, settings.data);
    refuseTogether(options);
    const stores = storesOf(options, io);
    if (await isRepository(data)) throw dataIsRepository(shown(data, io.cwd));
    // Whoever names no repository gets no data folder either.
    if (!options.example) await findRepository(resolve(io.cwd, options.worktree ?? options.repo ?? "."));
    await onDisk(data, () => makeDataFolder(data));
    const repository = await repositoryOf(options, data, context);
    const progress = openProgress(io.stdout, style);
    progress.print([`Following ${shown(repository.path, io.cwd)}, data in ${shown(data, io.cwd)}; Ctrl-C ends it.`]);
    if (stores.s3 || stores.registry) progress.print([storesLine(stores)]);
    const { port } = settings;
    const app = await deps.startEmbedded({ data, port, repository, report: progress.report, settings, stores });
    const stopped = io.signal.aborted ? undefined : once(io.signal, "abort");
    const reminder = setInterval(() => progress.remind(), REMIND_MS);
    try {
      await Promise.race([
        showWhenSettled(app, { ...repository, isExample: options.example === true }, progress, context),
        stopped,
      ]);
      await stopped;
    } finally {
      clearInterval(reminder);
      progress.close();
      await close(app, context);
    }
    return 0;
  },
};

/** @throws SlessError `settings_invalid` */
function storesOf(options: DevOptions, { env, cwd }: VerbContext["io"]): StoreSettings {
  const { s3Endpoint, s3Bucket, registry, registryMirror, registryConfig } = options;
  const flags = {
    "s3-endpoint": s3Endpoint,
    "s3-bucket": s3Bucket,
    registry,
    "registry-mirror": registryMirror,
    "registry-config": registryConfig,
  };
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  const stores = readStoreSettings(env, Object.fromEntries(given));
  const file = stores.registry?.dockerConfig;
  if (!stores.registry || file === undefined) return stores;
  return { ...stores, registry: { ...stores.registry, dockerConfig: resolve(cwd, file) } };
}

function storesLine({ s3, registry }: StoreSettings): string {
  const sources = s3 && `sources in the bucket ${s3.bucket}${s3.endpoint ? ` at ${s3.endpoint}` : ""}`;
  const images = registry && `images in the registry ${[registry.host, registry.prefix].join("/").replace(/\/$/, "")}`;
  return `Keeping ${[sources, images].filter(Boolean).join(" and ")}.`;
}

/** @throws SlessError `usage_invalid` for options of which one would go unheard */
function refuseTogether({ worktree, repo, ref, example }: DevOptions): void {
  if (example && repo !== undefined)
    throw new SlessError("usage_invalid", {
      cause: "--example makes a repository of its own, so --repo cannot stand beside it",
      verb: "dev",
    });
  if (worktree === undefined) return;
  const others = Object.entries({ "--repo": repo, "--ref": ref, "--example": example });
  const unheard = others.filter(([, value]) => value !== undefined).map(([flag]) => flag);
  if (unheard.length === 0) return;
  const cause = `--worktree follows the files as they lie there, so ${unheard.join(" and ")} cannot stand beside it`;
  throw new SlessError("usage_invalid", { cause, verb: "dev" });
}

/** What sless keeps would stand among the user's files, and keep git from seeing new ones. */
function dataIsRepository(data: string): SlessError {
  const cause = `--data ${data} is a repository itself; name a folder of its own, for example ${join(data, ".sless")}`;
  return new SlessError("settings_invalid", { cause });
}

/** Files that make the data folder a place of its own, also in the middle of somebody's work tree. */
const BOUNDARY: Readonly<Record<string, string>> = {
  // Nothing of it belongs into a commit.
  ".gitignore": "*\n",
  // Node takes the nearest package.json for that of a module: a function's must not be the one around the data.
  "package.json": "{}\n",
};

async function makeDataFolder(data: string): Promise<void> {
  makeFolder(data);
  for (const [file, text] of Object.entries(BOUNDARY)) {
    await writeFile(join(data, file), text, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/** @throws SlessError `storage_unavailable` for whatever the file system refuses */
async function onDisk<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new SlessError("storage_unavailable", { what, cause: messageOf(error) }, { cause: error });
  }
}

async function repositoryOf(
  { repo = ".", worktree, ref, path: subPath, example }: DevOptions,
  data: string,
  { io, deps, settings }: VerbContext,
): Promise<EmbeddedOptions["repository"]> {
  const { namespace } = settings;
  if (example) {
    const path = join(data, "example.git");
    if (await onDisk(path, () => makeExampleRepository(path, deps.exampleFolder)))
      say(io.stdout, `Made ${shown(path, io.cwd)}.`);
    return { name: "example", path, ref: { branch: "main" }, subPath, namespace };
  }
  if (worktree !== undefined) {
    const path = await findRepository(resolve(io.cwd, worktree));
    if (!(await hasWorktree(path))) {
      const cause = `${path} is bare: there are no files to follow, its commits are followed with --repo`;
      throw new SlessError("usage_invalid", { cause, verb: "dev" });
    }
    return { name: nameOf(path), path, ref: {}, worktree: true, subPath, namespace };
  }
  const path = await findRepository(resolve(io.cwd, repo));
  return { name: nameOf(path), path, ref: await refNamed(ref, path, deps), subPath, namespace };
}

/** A name as people write it: a full commit id, a branch, else a tag; a branch that is not there yet may come. */
async function refNamed(ref: string | undefined, path: string, deps: VerbContext["deps"]): Promise<RefRequest> {
  if (ref === undefined) return {};
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(ref)) return { commit: ref };
  const reader = await deps.openGitReader(path);
  try {
    for (const request of [{ branch: ref }, { tag: ref }]) {
      const found = await reader.resolve(request).catch((error: unknown) => {
        if (isSlessError(error, "ref_not_found") || isSlessError(error, "repository_empty")) return undefined;
        throw error;
      });
      if (found) return request;
    }
    return { branch: ref };
  } finally {
    await reader.close();
  }
}

async function showWhenSettled(
  app: EmbeddedApp,
  { name, path, worktree = false, namespace, isExample }: EmbeddedOptions["repository"] & { isExample: boolean },
  progress: Progress,
  { io, deps, style }: VerbContext,
): Promise<void> {
  await app.settled();
  progress.settle();
  const client = deps.createClient({ endpoint: app.url });
  try {
    const place = shown(path, io.cwd);
    progress.print(await firstLook({ client, repository: name, place, isExample, worktree, namespace, style }));
  } finally {
    await client.close();
  }
}

async function close(app: EmbeddedApp, { io }: VerbContext): Promise<void> {
  say(io.stderr, "Stopping ...");
  const giveUp = new AbortController();
  const late = wait(CLOSE_WITHIN_MS, "late", { signal: giveUp.signal }).catch(() => "ended");
  const outcome = await Promise.race([app.close().then(() => "ended"), late]);
  giveUp.abort();
  if (outcome === "late")
    say(io.stderr, `Not everything ended within ${CLOSE_WITHIN_MS / 1000} s; the next start cleans up.`);
}

/** A name for the Repository object, made of the folder's. */
function nameOf(path: string): string {
  const name = basename(path, ".git")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 52)
    .replace(/-+$/, "");
  return name || "repository";
}

/** A path below the working folder as a relative one. */
function shown(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === "" ? "." : short.startsWith("..") ? path : short;
}
