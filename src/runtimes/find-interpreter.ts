import { execFile } from "node:child_process";
import { readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, sep } from "node:path";
import { promisify } from "node:util";
import type { Interpreter, InterpreterWanted, Runtime } from "./runtime.ts";

const run = promisify(execFile);
const VERSION_TIMEOUT_MS = 10_000;

export interface InterpreterSearch {
  /** A PATH value. */
  readonly path: string;
  /** Folders whose programs (and what lies below) are not taken, such as the project's `node_modules/.bin`. */
  readonly excluded: readonly string[];
  /** Where `~` of a runtime's folders is; default: the user's home. */
  readonly home?: string;
  /** How long a program may take to tell its version; default 10,000. */
  readonly versionTimeoutMs?: number;
}

/**
 * The interpreter that serves a runtime on this machine: the first of the version it names, on PATH and then in the
 * folders of version managers; else the nearest that is no older than the runtime's minimum (of two equally near ones
 * the newer). Starts every candidate once to ask its version: callers keep the answer.
 *
 * @returns undefined when no usable one is there
 */
export async function findInterpreter(
  runtime: Pick<Runtime, "interpreter">,
  search: InterpreterSearch,
): Promise<Interpreter | undefined> {
  const wanted = runtime.interpreter;
  const onPath = await usable(await programsOnPath(wanted, search.path), wanted, search);
  const exact = onPath.find((one) => one.exact);
  if (exact) return exact;
  const managed = await usable(await managedPrograms(wanted, search.home ?? homedir()), wanted, search);
  return managed.find((one) => one.exact) ?? [...onPath, ...managed].sort(nearestTo(wanted.version))[0];
}

async function usable(
  programs: readonly string[],
  wanted: InterpreterWanted,
  search: InterpreterSearch,
): Promise<Interpreter[]> {
  const excluded = await withRealPaths(search.excluded);
  const asked = programs.map(async (program) => {
    if (await isBelowAny(program, excluded)) return undefined;
    const found = await ask(program, wanted, search);
    return found && !(await isBelowAny(found.path, excluded)) ? found : undefined;
  });
  return (await Promise.all(asked)).filter((found) => found !== undefined);
}

async function programsOnPath(wanted: InterpreterWanted, path: string): Promise<string[]> {
  const folders = path.split(delimiter).filter(isAbsolute);
  return existing(wanted.commands.flatMap((command) => folders.map((folder) => join(folder, command))));
}

async function managedPrograms(wanted: InterpreterWanted, home: string): Promise<string[]> {
  const folders = await Promise.all(
    wanted.folders.map((pattern) => expandFolder(pattern.replace(/^~/, home), wanted.version)),
  );
  return existing(folders.flat().flatMap((folder) => wanted.commands.map((command) => join(folder, command))));
}

/** Fills the one `*` of a pattern with the entries that hold the wanted version, newest name first. */
async function expandFolder(pattern: string, version: string): Promise<string[]> {
  const [before, after] = pattern.split("*");
  if (before === undefined || after === undefined) return [pattern];
  const prefix = before.slice(before.lastIndexOf("/") + 1);
  const parent = dirname(`${before}x`);
  const names = await readdir(parent).catch(() => []);
  const named = new RegExp(`(^|\\D)${version.replaceAll(".", "\\.")}(\\D|$)`);
  return names
    .filter((name) => name.startsWith(prefix) && named.test(name))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((name) => join(parent, name) + after);
}

async function existing(programs: readonly string[]): Promise<string[]> {
  const seen = new Set<string>();
  const there: string[] = [];
  for (const program of programs) {
    const real = await realpath(program).catch(() => undefined);
    if (real === undefined || !(await stat(real)).isFile()) continue;
    // Shims are one file under many names: each name is a program of its own.
    const identity = `${real}\0${program.slice(program.lastIndexOf(sep))}`;
    if (!seen.has(identity)) there.push(program);
    seen.add(identity);
  }
  return there;
}

async function withRealPaths(folders: readonly string[]): Promise<string[]> {
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  return [...new Set([...folders, ...real])];
}

async function isBelowAny(program: string, folders: readonly string[]): Promise<boolean> {
  const isBelow = (path: string) => folders.some((folder) => path.startsWith(folder.replace(/\/*$/, "/")));
  return isBelow(program) || isBelow(await realpath(program).catch(() => program));
}

async function ask(
  program: string,
  wanted: InterpreterWanted,
  { path, versionTimeoutMs = VERSION_TIMEOUT_MS }: InterpreterSearch,
): Promise<Interpreter | undefined> {
  const env = { PATH: path, HOME: homedir(), GOTOOLCHAIN: "local" };
  const output = await run(program, [...wanted.versionArgs], { env, cwd: "/", timeout: versionTimeoutMs }).catch(
    () => undefined,
  );
  const match = output && new RegExp(wanted.versionPattern).exec(output.stdout + output.stderr);
  const version = match?.[1];
  if (version === undefined || compare(numbers(version), numbers(wanted.minimum)) < 0) return undefined;
  const real = match?.groups?.path?.trim();
  return {
    path: real && isAbsolute(real) ? real : program,
    version,
    exact: numbers(wanted.version).every((part, index) => part === numbers(version)[index]),
  };
}

function numbers(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Nearer major first, then nearer minor; of two equally near ones the newer. */
function nearestTo(version: string): (a: Interpreter, b: Interpreter) => number {
  const wanted = numbers(version);
  const distances = (one: Interpreter) =>
    wanted.map((part, index) => Math.abs((numbers(one.version)[index] ?? 0) - part));
  return (a, b) => compare(distances(a), distances(b)) || compare(numbers(b.version), numbers(a.version));
}
