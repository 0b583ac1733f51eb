import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ImageJobRequest, ImageJobState, ImageJobs } from "../../src/build/index.ts";
import { appendImage, type LayerEntry, makeLayer } from "../../src/build/layer/index.ts";
import { jobTable } from "../../src/build/local/job-table.ts";
import { runCommand } from "../../src/build/local/run-command.ts";
import type { Making } from "../../src/build/making.ts";
import type { Clock } from "../../src/controller/clock.ts";
import { logFile, type ProcessSupervisor } from "../../src/processes/index.ts";
import { parseImageReference, type RegistryClient } from "../../src/registry/index.ts";

export interface ProcessImageJobs extends ImageJobs {
  /** Keys of what was begun, in order. */
  readonly begun: readonly string[];
}

export interface ProcessImageJobsOptions {
  readonly folder: string;
  readonly registry: RegistryClient;
  readonly processes: ProcessSupervisor;
  readonly clock: Clock;
}

/**
 * ImageJobs without a container: commands of the Dockerfile run in processes, and paths below `/sless` and `/tmp` stand for
 * ones below a folder. What is there in the end becomes a layer. It is no boundary, and knows no more of Dockerfiles than
 * what sless writes.
 */
export function processImageJobs({ folder, registry, processes, clock }: ProcessImageJobsOptions): ProcessImageJobs {
  const begun: string[] = [];
  const jobs = jobTable({
    clock,
    logOf({ key }) {
      begun.push(key);
      return logFile(join(folder, `${key}-${begun.length}.log`), { maxBytes: 1 << 20, whenFull: "stop" });
    },
    run: (request, making) =>
      buildDockerfile(request, { folder, registry, processes, clock, ...making }).catch((error: unknown) =>
        failed("builder", String(error), "", clock),
      ),
  });
  return { ...jobs, begun };
}

function failed(by: "command" | "builder", message: string, tail: string, clock: Clock): ImageJobState {
  return { phase: "failed", by, reason: "JobFailed", message, tail, failedAt: clock.now() };
}

interface BuildContext extends ProcessImageJobsOptions, Making {}

/** The file systems of the stages, and what the image is made from. */
interface Stage {
  readonly from: string;
  readonly root: string;
  workdir: string;
}

async function buildDockerfile(request: ImageJobRequest, context: BuildContext): Promise<ImageJobState> {
  const work = await mkdtemp(join(context.folder, "job-"));
  try {
    await writeEntries(join(work, "context"), request.files());
    const stages = new Map<string, Stage>();
    let stage: Stage | undefined;
    for (const line of request.dockerfile.split("\n").filter(Boolean)) {
      const [instruction, ...rest] = line.split(" ");
      if (instruction === "FROM") {
        stage = { from: rest[0]!, root: join(work, `stage-${stages.size}`), workdir: "/" };
        await mkdir(stage.root);
        stages.set(rest[2] ?? "", stage);
      } else {
        const end = await follow(instruction!, rest.join(" "), stage!, { ...context, work, stages });
        if (end) return end;
      }
    }
    const digest = await push(stage!, request, context.registry);
    return { phase: "built", digest, builtAt: context.clock.now() };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface Instructed extends BuildContext {
  readonly work: string;
  readonly stages: ReadonlyMap<string, Stage>;
}

async function follow(instruction: string, rest: string, stage: Stage, context: Instructed) {
  if (instruction === "USER") return undefined;
  if (instruction === "WORKDIR") {
    stage.workdir = rest;
    await mkdir(join(stage.root, rest), { recursive: true });
    return undefined;
  }
  if (instruction === "COPY") return copy(rest.split(" "), stage, context);
  if (instruction === "RUN") return run(JSON.parse(rest), stage, context);
  throw new Error(`${instruction} is not known here`);
}

async function copy(parts: string[], stage: Stage, { work, stages }: Instructed): Promise<undefined> {
  const from = parts[0]!.startsWith("--from=") ? stages.get(parts.shift()!.slice("--from=".length)) : undefined;
  const [source, target] = parts as [string, string];
  const at = from ? join(from.root, source) : join(work, "context", source);
  // Files of the base image itself are not here.
  if (!(await stat(at).catch(() => undefined))) return undefined;
  const to = target.startsWith("/") ? target : join(stage.workdir, target);
  await mkdir(join(stage.root, to), { recursive: true });
  const entries = await entriesOf(at);
  await writeEntries(join(stage.root, to), entries);
  return undefined;
}

async function run(command: string[], stage: Stage, context: Instructed): Promise<ImageJobState | undefined> {
  await mkdir(join(stage.root, "tmp"), { recursive: true });
  const here = command.map((part) => part.replaceAll(/(?<![\w.])\/(sless|tmp\/sless-build)\b/g, `${stage.root}/$1`));
  context.step("running commands");
  const env = { PATH: `${dirname(process.execPath)}:/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin` };
  const runtime = { name: "test", interpreter: { install: "nothing" } };
  const deps = { processes: context.processes, deadlineMs: 300_000 };
  const cwd = join(stage.root, stage.workdir);
  const end = await runCommand({ command: here, cwd, env, runtime }, context.log, deps, context.signal);
  return end.ok ? undefined : failed("command", end.cause, end.tail, context.clock);
}

async function push({ from, root }: Stage, { target }: ImageJobRequest, registry: RegistryClient): Promise<string> {
  const { host, repository, digest } = parseImageReference(from);
  const layer = await makeLayer(await entriesOf(join(root, "sless"), "sless/"));
  const settings = { entrypoint: ["none"], workingDir: "/", user: "0", env: {}, labels: {} };
  return appendImage({
    base: { client: registry, host, repository, digest: digest! },
    layers: [layer],
    settings,
    target: { client: registry, repository: target.repository, tags: [target.tag] },
  });
}

/** What is below a folder; links are not followed. */
async function entriesOf(folder: string, prefix = ""): Promise<LayerEntry[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const lists = await Promise.all(
    found.map(async (entry): Promise<LayerEntry[]> => {
      const at = join(folder, entry.name);
      const path = prefix + entry.name;
      if (entry.isDirectory()) return [{ path, folder: true }, ...(await entriesOf(at, `${path}/`))];
      if (entry.isSymbolicLink()) return [{ path, target: await readlink(at) }];
      return [{ path, content: await readFile(at), executable: ((await stat(at)).mode & 0o100) !== 0 }];
    }),
  );
  return lists.flat();
}

async function writeEntries(folder: string, entries: Iterable<LayerEntry> | AsyncIterable<LayerEntry>): Promise<void> {
  for await (const entry of entries) {
    const at = join(folder, entry.path);
    await mkdir("folder" in entry ? at : dirname(at), { recursive: true });
    if ("target" in entry) await symlink(entry.target, at);
    else if (!("folder" in entry)) {
      const content = "content" in entry ? entry.content : entry.stream();
      await writeFile(at, content, { mode: entry.executable ? 0o755 : 0o644 });
    }
  }
}
