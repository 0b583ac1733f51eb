import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { git } from "./generate-repository.ts";

/** A function that answers which version of its code runs. */
export interface VersionedFunction {
  readonly name: string;
  readonly runtime: string;
  readonly file: string;
  readonly code: (version: number) => string;
}

export const PYTHON: VersionedFunction = {
  name: "in-python",
  runtime: "python3.11",
  file: "handler.py",
  code: (version) => `def handle(event, context):\n    return {"version": ${version}}\n`,
};

export const NODE: VersionedFunction = {
  name: "in-node",
  runtime: "nodejs20",
  file: "handler.js",
  code: (version) => `exports.handle = async () => ({ version: ${version} });\n`,
};

export interface VersionedRepository {
  /** The bare repository. */
  readonly bare: string;
  /** Commits another version of a function; nothing is pushed yet. */
  commit(subject: VersionedFunction, version: number): Promise<void>;
  push(): Promise<void>;
}

/** A bare repository with these functions in version 0, and a clone that commits and pushes. */
export async function makeVersionedRepository(
  folder: string,
  subjects: readonly VersionedFunction[] = [PYTHON, NODE],
): Promise<VersionedRepository> {
  const [bare, clone] = [join(folder, "functions.git"), join(folder, "clone")];
  await git(["init", "--quiet", "--bare", "--initial-branch=main", bare]);
  await git(["init", "--quiet", "--initial-branch=main", clone]);
  await git(["remote", "add", "origin", bare], clone);
  const push = () => git(["push", "--quiet", "origin", "main"], clone);
  const commit = async (subject: VersionedFunction, version: number) => {
    await writeFile(join(clone, subject.name, subject.file), subject.code(version));
    await git(["add", "--all"], clone);
    await git(["commit", "--quiet", "--message", `${subject.name} ${version}`], clone);
  };
  for (const subject of subjects) {
    await mkdir(join(clone, subject.name));
    await writeFile(join(clone, subject.name, "function.yaml"), manifest(subject));
    await commit(subject, 0);
  }
  await push();
  return { bare, commit, push };
}

function manifest({ name, runtime }: VersionedFunction): string {
  return `apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata: {name: ${name}}
spec: {runtime: ${runtime}}
---
apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: ${name}-http}
spec: {type: http, functionRef: ${name}}
`;
}
