import { onTestFinished } from "vitest";
import { type DesiredLimits, NOTHING_KNOWN, openDesiredReader } from "../../src/desired/index.ts";
import type { DesiredState } from "../../src/plan/index.ts";
import { findGit, type GitReader } from "../../src/source/index.ts";
import { openNativeReader } from "../../src/source/native/index.ts";
import { runtimes } from "../support/function-files.ts";
import { type Files, type GitRepository, gitRepository } from "../support/git-repository.ts";

export interface ReaderOptions {
  readonly path?: string;
  readonly limits?: Partial<DesiredLimits>;
  readonly wrap?: (git: GitReader) => GitReader;
}

/** A repository of these files, and a reader that stays open over its commits. */
export async function desiredFrom(files: Files, { path = "", limits = {}, wrap = (git) => git }: ReaderOptions = {}) {
  const repository = await gitRepository(files);
  const git = wrap(await openGitOf(repository));
  const reader = openDesiredReader({ git, path, namespace: "demo", runtimes, limits });
  /** What `HEAD` wants, given what files held before. */
  async function read(held: Readonly<Record<string, readonly string[]>> = {}): Promise<DesiredState> {
    const known = Object.keys(held).length > 0 ? { manifestFiles: new Map(Object.entries(held)) } : NOTHING_KNOWN;
    return reader.read(await git.resolve({}), known);
  }
  return { repository, git, read };
}

export async function openGitOf(repository: Pick<GitRepository, "dir">): Promise<GitReader> {
  const git = await findGit(process.env.PATH);
  const reader = await openNativeReader({ repository: repository.dir, git: git! });
  onTestFinished(() => reader.close());
  return reader;
}

/** `Function/demo/hello functions/hello/function.yaml:3`, sorted. */
export function objectsIn(state: DesiredState): string[] {
  return state.objects.map(({ intent, file, line }) => `${intent.kind}/${intent.metadata.name} ${file}:${line}`).sort();
}

/** `source_missing functions/hello/function.yaml:7:3` and its message, per diagnostic. */
export function faultsIn(state: DesiredState): string[] {
  return state.diagnostics.map(({ code, file, line, column }) =>
    [code, [file, line, column].filter((part) => part !== undefined).join(":")].join(" "),
  );
}

/** Paths of a workload's source. */
export function sourceOf(state: DesiredState, name: string): string[] | undefined {
  const object = state.objects.find(({ intent }) => intent.metadata.name === name);
  return object?.source?.files.map((file) => file.path).sort();
}
