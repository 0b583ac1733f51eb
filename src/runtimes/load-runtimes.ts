import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseDocument } from "yaml";
import { hashFields } from "../apis/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import type { Runtime } from "./runtime.ts";
import { runtimeFaults } from "./runtime-faults.ts";
import type { RuntimeFile } from "./runtime-schema.ts";

const FILE = "runtime.yaml";

/**
 * The runtimes of a folder, by name, sorted. A subfolder without `runtime.yaml` is no runtime: it may hold a server
 * that several share.
 *
 * @throws SlessError `runtime_invalid` with all faults of the first file that has some, `storage_unavailable`
 */
export async function loadRuntimes(folder: string): Promise<ReadonlyMap<string, Runtime>> {
  const root = resolve(folder);
  const entries = await readdir(root, { withFileTypes: true }).catch((error: unknown) => {
    throw new SlessError("storage_unavailable", { what: root, cause: messageOf(error) }, { cause: error });
  });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const runtimes = new Map<string, Runtime>();
  for (const name of names) {
    const text = await readIfThere(join(root, name, FILE));
    if (text !== undefined) runtimes.set(name, await readRuntime(root, name, text));
  }
  return runtimes;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new SlessError("storage_unavailable", { what: path, cause: messageOf(error) }, { cause: error });
  }
}

async function readRuntime(root: string, name: string, text: string): Promise<Runtime> {
  const path = join(root, name, FILE);
  const file = parseRuntime(path, text);
  const folder = resolve(dirname(path), file.server ?? ".");
  if (!folder.startsWith(root + sep)) throw invalid(path, [`server leaves ${root}`]);
  return {
    name,
    language: file.language,
    baseImage: file.baseImage,
    ...(file.runImage !== undefined && { runImage: file.runImage }),
    ...(file.runFiles && { runFiles: file.runFiles }),
    interpreter: { ...file.interpreter, folders: file.interpreter.folders ?? [] },
    folder,
    digest: await digestOf(text, folder).catch((error: unknown) => {
      throw invalid(path, [`server ${folder} cannot be read: ${messageOf(error)}`]);
    }),
    dependencyFiles: [...(file.dependencyFiles ?? [])].sort(),
    install: file.install ?? [],
    ...(file.build && { build: file.build }),
    ...(file.linkDeps !== undefined && { linkDeps: file.linkDeps }),
    ...(file.imageFiles && { imageFiles: file.imageFiles }),
    handlerExtensions: file.handlerExtensions,
    start: { command: file.start.command, env: file.start.env ?? {} },
    buildEnv: file.buildEnv ?? {},
  };
}

function parseRuntime(path: string, text: string): RuntimeFile {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    throw invalid(
      path,
      document.errors.map((error) => error.message.split("\n")[0]!.replace(/:$/, "")),
    );
  const parsed: unknown = document.toJS();
  const faults = runtimeFaults(parsed);
  if (faults.length > 0) throw invalid(path, faults);
  return parsed as RuntimeFile;
}

function invalid(path: string, faults: readonly string[]): SlessError {
  return new SlessError("runtime_invalid", { file: path, cause: faults.join("; ") });
}

/** Caches that interpreters leave beside the server are no part of it. */
function isOwnFile(path: string): boolean {
  return path.split(sep).every((part) => part !== "__pycache__" && !part.startsWith("."));
}

async function digestOf(yaml: string, folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => isOwnFile(relative(folder, path)))
    .sort();
  const files = await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path)] as const));
  return hashFields([yaml, ...files.flat()]);
}
