import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { NAME_MAX_LENGTH, NAME_PATTERN, nearestName } from "../apis/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { makeFolder } from "../source/index.ts";
import { codeTemplate, manifestTemplate, type TemplateFiles } from "./init-templates.ts";
import { type Io, say } from "./io.ts";
import type { Verb } from "./verb.ts";

interface InitOptions {
  /** True when the option came without a value. */
  readonly runtime?: string | true;
  readonly into: string;
}

const TRIGGER_SUFFIX = "-http";

export const init: Verb<InitOptions> = {
  name: "init",
  summary: "Write the folder of a new function, with an http trigger",
  arguments: [{ name: "[name]", description: "name of the function" }],
  options: [
    {
      flags: "-r, --runtime [runtime]",
      description: "python3.11, nodejs20, go1.23, …; without a value: list them",
      completes: "runtime",
    },
    {
      flags: "--into <folder>",
      description: "folder that the new one is made in",
      fallback: "functions",
    },
  ],
  examples: [
    { line: "sless init hello --runtime python3.11", does: "writes functions/hello/" },
    { line: "sless init resize --runtime nodejs20 --into images", does: "writes images/resize/" },
    { line: "sless init --runtime", does: "which runtimes are there?" },
  ],
  async run([name = ""], { runtime, into }, { io, deps }) {
    const runtimes = await deps.loadRuntimes();
    if (runtime === true) return listRuntimes(runtimes, io);
    const files = filesOf(name, runtime, runtimes);
    const folder = resolve(io.cwd, into, name);
    const shown = relative(io.cwd, folder) || ".";
    await writeNewFolder(folder, shown, files);
    for (const file of Object.keys(files)) say(io.stdout, `wrote ${join(shown, file)}`);
    say(io.stdout, `Commit and push it: git add ${shellWord(shown)} && git commit -m "Add ${name}" && git push`);
    return 0;
  },
};

/** A path as a shell takes it for one word. */
function shellWord(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function listRuntimes(runtimes: ReadonlyMap<string, Runtime>, io: Io): number {
  for (const name of runtimes.keys()) say(io.stdout, name);
  return 0;
}

/** All faults of the line at once. */
function filesOf(name: string, runtimeName: string | undefined, runtimes: ReadonlyMap<string, Runtime>): TemplateFiles {
  const faults: string[] = [];
  const longest = NAME_MAX_LENGTH - TRIGGER_SUFFIX.length;
  if (!new RegExp(NAME_PATTERN).test(name) || name.length > longest)
    faults.push(
      `"${name}" is no name: use at most ${longest} lower-case letters, digits and "-", starting with a letter`,
    );
  const runtime = runtimeNamed(runtimeName, runtimes, faults);
  const code = runtime && codeTemplate(runtime, name);
  if (runtime && !code) faults.push(`there is no template for ${runtime.language}; copy a function that you have`);
  if (faults.length > 0 || !code) throw new SlessError("usage_invalid", { cause: faults.join("; "), verb: "init" });
  return { "function.yaml": manifestTemplate(name, runtime!.name), ...code };
}

function runtimeNamed(
  name: string | undefined,
  runtimes: ReadonlyMap<string, Runtime>,
  faults: string[],
): Runtime | undefined {
  const runtime = name === undefined ? undefined : runtimes.get(name);
  if (runtime) return runtime;
  const known = [...runtimes.keys()];
  const near = name === undefined ? undefined : nearestName(name, known);
  const hint = near ? `did you mean ${near}?` : `known: ${known.join(", ")}`;
  faults.push(name === undefined ? `--runtime is missing; ${hint}` : `"${name}" is no runtime here; ${hint}`);
  return undefined;
}

/** Nothing that exists is touched: the folder itself is made here or the verb ends. */
async function writeNewFolder(folder: string, shown: string, files: TemplateFiles): Promise<void> {
  try {
    makeFolder(dirname(folder));
    await mkdir(folder);
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new SlessError("already_exists", { what: shown }, { cause: error });
    throw new SlessError("storage_unavailable", { what: shown, cause: messageOf(error) }, { cause: error });
  }
}
