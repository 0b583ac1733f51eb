import { randomUUID } from "node:crypto";
import { mkdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Clock } from "../../controller/clock.ts";
import { expandCommand, expandEnv, type Interpreter } from "../../runtimes/index.ts";
import { type ArchiveLimits, unpackArchive } from "../../source/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import { BuildFault } from "../build-fault.ts";
import type { BuildRequest } from "../builder.ts";
import type { CommandSlots } from "../command-slots.ts";
import type { Making } from "../making.ts";
import { openSource } from "../open-source.ts";
import { buildEnvironment, type EnvironmentOptions } from "./build-environment.ts";
import { dependenciesOf } from "./build-keys.ts";
import { checkHandlerInFolder } from "./handler-in-folder.ts";
import { IMAGE, type ImageFolders, type ImageRecord } from "./image-folders.ts";
import type { Installs } from "./installs.ts";
import { type CommandDeps, runCommand } from "./run-command.ts";

export interface ImageDeps extends CommandDeps, EnvironmentOptions {
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly images: ImageFolders;
  readonly installs: Installs;
  readonly slots: CommandSlots;
  /** For sources that are read and unpacked. */
  readonly unpacking: CommandSlots;
  readonly limits: ArchiveLimits;
}

export interface ImageBuild extends Making {
  readonly key: string;
  readonly request: BuildRequest;
  readonly interpreter: Interpreter;
}

/**
 * Makes an image and puts it in its place; before that nothing of it is visible, and when it fails nothing stays.
 *
 * @throws BuildFault, SlessError of the object store and the archive; the signal's reason
 */
export async function buildImage(build: ImageBuild, deps: ImageDeps): Promise<ImageRecord> {
  const startedMs = deps.clock.monotonicMs();
  const draft = join(deps.folder, "tmp", `image-${randomUUID()}`);
  try {
    const source = join(draft, "source");
    await unpackSource(build, source, deps);
    await checkHandlerInFolder(source, build.request.entrypoint, build.request.runtime);
    const dependencies = await linkDependencies(draft, source, build, deps);
    await writeImageFiles(draft, build.request.runtime.imageFiles ?? {});
    await compile(draft, source, build, deps);
    build.signal.throwIfAborted();
    const record: ImageRecord = {
      ...startOf(build),
      ...(dependencies === undefined ? {} : { dependencies }),
      builtAt: deps.clock.now().toISOString(),
      durationMs: Math.round(deps.clock.monotonicMs() - startedMs),
    };
    await deps.images.publish(draft, build.key, record);
    return record;
  } finally {
    await rm(draft, { recursive: true, force: true });
    await rm(`${draft}.tmp`, { recursive: true, force: true });
  }
}

async function unpackSource({ request, signal }: ImageBuild, folder: string, deps: ImageDeps): Promise<void> {
  await deps.unpacking.run(signal, async () => {
    const archive = await openSource(request, { ...deps, temporary: join(deps.folder, "tmp") }, signal);
    try {
      await unpackArchive(archive, folder, signal);
    } finally {
      await archive.close();
    }
  });
}

/** Gives the draft its `deps`: a link to what is installed, or an empty folder. */
async function linkDependencies(
  draft: string,
  source: string,
  { request: { runtime }, interpreter, key, log, signal, step }: ImageBuild,
  { images, installs }: ImageDeps,
): Promise<string | undefined> {
  const dependencies = await dependenciesOf(source, runtime, interpreter);
  if (!dependencies) {
    await mkdir(join(draft, "deps"));
    return undefined;
  }
  step("installing dependencies");
  const installed = await installs.provide({ dependencies, source, runtime, interpreter }, { log, signal, step });
  await log.append(Buffer.from(`sless: dependencies ${dependencies.key.slice(0, 12)} are installed\n`));
  await symlink(relative(images.folderOf(key), installed), join(draft, "deps"));
  const linked = runtime.linkDeps;
  if (linked !== undefined && (await stat(join(installed, linked)).catch(() => undefined))) {
    await symlink(join("deps", linked), join(draft, linked));
  }
  return dependencies.key;
}

async function writeImageFiles(draft: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(draft, name), text);
}

async function compile(
  draft: string,
  source: string,
  { request: { runtime, entrypoint }, interpreter, log, signal, step }: ImageBuild,
  deps: ImageDeps,
): Promise<void> {
  if (!runtime.build) return;
  step("compiling");
  const tmp = `${draft}.tmp`;
  await mkdir(tmp);
  const placeholders = { interpreter: interpreter.path, runtime: runtime.folder, source, out: draft, entrypoint };
  const command = expandCommand(runtime.build.command, placeholders);
  const env = buildEnvironment(runtime, interpreter, tmp, deps);
  const end = await deps.slots.run(signal, () => runCommand({ command, cwd: source, env, runtime }, log, deps, signal));
  if (!end.ok) throw new BuildFault("build_failed", { cause: end.cause }, { tail: end.tail });
}

/** The start command as the record keeps it: the image's folder and the replica's memory are filled in later. */
function startOf({ request: { runtime }, interpreter }: ImageBuild): Pick<ImageRecord, "runtime" | "command" | "env"> {
  const placeholders = {
    interpreter: interpreter.path,
    runtime: runtime.folder,
    source: `${IMAGE}/source`,
    deps: `${IMAGE}/deps`,
    out: IMAGE,
    memoryMB: "{memoryMB}",
  };
  return {
    runtime: runtime.name,
    command: expandCommand(runtime.start.command, placeholders),
    env: expandEnv(runtime.start.env, placeholders),
  };
}
