import { createHash } from "node:crypto";
import { hashFields } from "../../apis/index.ts";
import type { Runtime } from "../../runtimes/index.ts";
import type { BuildRequest } from "../builder.ts";

/** Digests (`sha256:<hex>`) of what an image stands on. */
export interface BaseDigests {
  readonly base: string;
  /** Of compiled languages with a `runImage`. */
  readonly run?: string | undefined;
}

type Wanted = Pick<BuildRequest, "sourceDigest" | "entrypoint"> & {
  readonly runtime: Pick<Runtime, "name" | "digest" | "build">;
};

/**
 * What decides a function's image; names its tag. The commit is not in it, nor the workload, nor the entry point where
 * nothing is compiled.
 */
export function imageKey(wanted: Wanted, { base, run = "" }: BaseDigests, platform: string): string {
  return hashFields(["fn/v1", ...originOf(wanted, platform), base, run]);
}

/** The same whatever the base images are at the moment: of two images with this key the later is the better one. */
export function originKey(wanted: Wanted, platform: string): string {
  return hashFields(["origin/v1", ...originOf(wanted, platform)]);
}

function originOf({ runtime, sourceDigest, entrypoint }: Wanted, platform: string): string[] {
  return [runtime.name, runtime.digest, platform, sourceDigest, runtime.build ? entrypoint : ""];
}

/** A dependency file as it is in the root of the source. */
export interface DependencyFile {
  readonly name: string;
  readonly isExecutable: boolean;
  readonly content: Uint8Array;
}

interface DepsFields {
  readonly runtime: string;
  /** Of the runtime and its server, where the install command names the server; else empty. */
  readonly serverDigest: string;
  readonly baseDigest: string;
  readonly platform: string;
  readonly installCommand: readonly string[];
  /** With the digest alone after `FROM`. */
  readonly dockerfile: string;
  readonly files: readonly DependencyFile[];
}

/** What decides an image of installed dependencies, shared by all who have the same. The order of files is nothing. */
export function depsKey(fields: DepsFields): string {
  const { runtime, serverDigest, baseDigest, platform, installCommand, dockerfile, files } = fields;
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  return hashFields([
    "deps/v1",
    runtime,
    serverDigest,
    baseDigest,
    platform,
    JSON.stringify(installCommand),
    dockerfile,
    ...sorted.flatMap(({ name, isExecutable, content }) => [name, isExecutable ? "x" : "-", sha256(content)]),
  ]);
}

/** What decides an image that is made from the whole source. */
export function fullKey(imageKey: string, dockerfile: string): string {
  return hashFields(["full/v1", imageKey, dockerfile]);
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
