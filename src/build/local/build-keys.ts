import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { hashFields } from "../../apis/index.ts";
import type { Interpreter, Runtime } from "../../runtimes/index.ts";
import type { BuildRequest } from "../builder.ts";

/** Changes when images of before cannot be used any more. */
const IMAGE_VERSION = "image/v1";
const DEPENDENCIES_VERSION = "deps/v1";

/**
 * What decides an image of this machine. The commit is not in it, nor the entry point where nothing is compiled.
 * Paths of interpreter and server are, because the image's start command names them.
 */
export function buildKey({ runtime, sourceDigest, entrypoint }: BuildRequest, interpreter: Interpreter): string {
  return hashFields([
    IMAGE_VERSION,
    runtime.name,
    runtime.digest,
    runtime.folder,
    interpreter.version,
    interpreter.path,
    JSON.stringify(runtime.install),
    sourceDigest,
    runtime.build ? entrypoint : "",
  ]);
}

export interface Dependencies {
  /** Names of the files that decide them, in the root of the source; sorted. */
  readonly files: readonly string[];
  readonly command: readonly string[];
  /** The same for every source with equal files: they share one installation. */
  readonly key: string;
}

/** What a source wants installed; undefined when nothing. */
export async function dependenciesOf(
  source: string,
  runtime: Runtime,
  interpreter: Interpreter,
): Promise<Dependencies | undefined> {
  const found = await Promise.all(runtime.dependencyFiles.map((name) => describeFile(source, name)));
  const files = found.filter((file) => file !== undefined);
  const names = files.map((file) => file.name);
  const install = runtime.install.find(({ when }) => when.every((name) => names.includes(name)));
  if (!install) return undefined;
  const key = hashFields([
    DEPENDENCIES_VERSION,
    runtime.name,
    interpreter.version,
    JSON.stringify(install.command),
    JSON.stringify(runtime.buildEnv),
    ...files.flatMap(({ name, isExecutable, sha256 }) => [name, isExecutable ? "x" : "-", sha256]),
  ]);
  return { files: names, command: install.command, key };
}

async function describeFile(source: string, name: string) {
  const path = join(source, name);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const sha256 = createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
  return { name, isExecutable: (found.mode & 0o100) !== 0, sha256 };
}
