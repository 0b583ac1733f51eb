import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expandCommand, type Interpreter, type Runtime } from "../../runtimes/index.ts";
import type { CommandSlots } from "../command-slots.ts";
import type { ImageJobRequest, ImageRecipe } from "../image-jobs.ts";
import type { LayerEntry } from "../layer/index.ts";
import type { Making } from "../making.ts";
import { CONTEXT_FOLDERS, IMAGE_PATHS } from "../plan/index.ts";
import { buildEnvironment, type EnvironmentOptions } from "./build-environment.ts";
import { entriesOfFolder, writeEntries } from "./folder-entries.ts";
import { type CommandDeps, type CommandEnd, runCommand } from "./run-command.ts";

export interface RecipeDeps extends CommandDeps, EnvironmentOptions {
  readonly slots: CommandSlots;
}

export interface RecipeRun extends Making {
  readonly recipe: ImageRecipe;
  readonly files: ImageJobRequest["files"];
  /** An empty folder for this run alone. */
  readonly work: string;
  readonly interpreter: Interpreter;
}

/** What the commands made, or how the one that failed ended. */
export type RecipeEnd = { readonly entries: readonly LayerEntry[] } | Extract<CommandEnd, { ok: false }>;

/**
 * Does what the Dockerfile of the recipe says with the tools of this machine, in folders that stand for those of the image.
 *
 * @throws BuildFault `toolchain_missing`, `build_timeout`; SlessError `too_large` and what reading the files throws; the
 *   signal's reason
 */
export async function runRecipe(run: RecipeRun, deps: RecipeDeps): Promise<RecipeEnd> {
  const { recipe, step } = run;
  const folders = await makeFolders(run);
  const install = await installCommand(recipe, folders);
  if (install) {
    step("installing dependencies");
    const cwd = recipe.kind === "source" ? folders.source : folders.deps;
    const end = await command(install, cwd, folders, run, deps);
    if (!end.ok) return end;
  }
  if (recipe.kind === "program") {
    step("compiling");
    const end = await command(recipe.runtime.build?.command ?? [], folders.source, folders, run, deps);
    if (!end.ok) return end;
  }
  return { entries: await resultOf(recipe, folders, install !== undefined) };
}

interface Folders {
  readonly source: string;
  readonly deps: string;
  readonly out: string;
  readonly tmp: string;
}

async function makeFolders({ work, files }: RecipeRun): Promise<Folders> {
  const at = (name: string) => join(work, name);
  const folders = { source: at("source"), deps: at("deps"), out: at("out"), tmp: at("tmp") };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });
  // The server's own files are on this machine already.
  const places: Readonly<Record<string, string>> = {
    [CONTEXT_FOLDERS.source]: folders.source,
    [CONTEXT_FOLDERS.dependencies]: folders.deps,
  };
  await writeEntries(files(), (path) => {
    const [first = ""] = path.split("/", 1);
    const place = places[first];
    return place === undefined ? undefined : join(place, path.slice(first.length + 1));
  });
  return folders;
}

async function installCommand(
  { kind, runtime }: ImageRecipe,
  { source, deps }: Folders,
): Promise<readonly string[] | undefined> {
  const names = new Set(await readdir(kind === "source" ? source : deps));
  return runtime.install.find(({ when }) => when.every((name) => names.has(name)))?.command;
}

async function command(
  parts: readonly string[],
  cwd: string,
  { source, deps: installed, out, tmp }: Folders,
  { recipe, interpreter, log, signal }: RecipeRun,
  deps: RecipeDeps,
): Promise<CommandEnd> {
  const { runtime, entrypoint } = recipe;
  const places = { source, deps: installed, out, runtime: runtime.folder };
  const expanded = expandCommand(parts, { ...places, interpreter: interpreter.path, entrypoint });
  const env = buildEnvironment(runtime, interpreter, tmp, deps);
  return deps.slots.run(signal, () => runCommand({ command: expanded, cwd, env, runtime }, log, deps, signal));
}

async function resultOf(
  { kind, runtime }: ImageRecipe,
  { source, deps, out }: Folders,
  isInstalled: boolean,
): Promise<LayerEntry[]> {
  const below = (path: string) => `${path.slice(1)}/`;
  const installed = () => entriesOfFolder(deps, below(IMAGE_PATHS.deps));
  if (kind === "deps") return installed();
  if (kind === "source") return [...(await installed()), ...(await entriesOfFolder(source, below(IMAGE_PATHS.source)))];
  return [
    ...(await entriesOfFolder(out, below(IMAGE_PATHS.out))),
    ...(isInstalled ? await installed() : []),
    ...(await runFiles(runtime)),
  ];
}

/** On a cluster they come from the image that compiles; here this machine's own stand for them, where it has them. */
async function runFiles({ runFiles: paths = [] }: Runtime): Promise<LayerEntry[]> {
  const found = await Promise.all(
    paths.map(async (path): Promise<LayerEntry[]> => {
      const content = await readFile(path).catch(() => undefined);
      return content ? [{ path: path.slice(1), content }] : [];
    }),
  );
  return found.flat();
}
