import { once } from "node:events";
import { CommanderError } from "commander";
import { isColorAllowed, readSettings, type SettingFlags } from "../config/index.ts";
import type { SlessClient } from "../server/client.ts";
import { complete } from "./complete.ts";
import { errorLines } from "./error-lines.ts";
import { fetchContext } from "./fetch-context.ts";
import { type Io, say } from "./io.ts";
import { createProgram } from "./program.ts";
import { pushImage } from "./push-image.ts";
import { styleOf } from "./style.ts";
import type { CliDeps, Verb } from "./verb.ts";
import { VERBS } from "./verbs.ts";

/** Exit code of a command line that is not understood, and of every failure. */
const FAILED = 2;
/** Exit code of a verb that was interrupted, as shells have it for SIGINT. */
const INTERRUPTED = 130;

/**
 * Runs a command line (`argv` without node and script) and answers the exit code: 0 done or the same, 1 differs or not
 * ready, 2 failed, 130 interrupted. Never throws, never ends the process.
 */
export async function main(argv: readonly string[], io: Io, deps: CliDeps): Promise<number> {
  let code = 0;
  const program = createProgram([...VERBS, complete, pushImage, fetchContext], io, async (verb, args, options) => {
    code = await runVerb(verb, args, options, io, deps);
  });
  try {
    // What people try first; the verb is what the help names.
    const line = argv[0] === "--version" ? ["version", ...argv.slice(1)] : [...argv];
    await program.parseAsync(line, { from: "user" });
    return code;
  } catch (error) {
    // Commander has told it already; asking for help is no failure.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : FAILED;
    for (const line of errorLines(error, styleOf(io.stderr, isColorAllowed(io.env)))) say(io.stderr, line);
    return FAILED;
  }
}

async function runVerb(verb: Verb, args: readonly string[], options: object, io: Io, deps: CliDeps): Promise<number> {
  const settings = readSettings(io.env, settingFlags(verb, options));
  let client = settings.cluster && (await deps.openCluster(settings.cluster));
  function openClient(): SlessClient {
    client ??= deps.createClient({ endpoint: settings.endpoint, token: settings.token });
    return client;
  }
  const context = { io, deps, settings, style: styleOf(io.stdout, settings.color), client: openClient };
  try {
    const run = verb.run(args, options, context);
    return await (verb.endsOnSignal ? run : Promise.race([run, interrupted(io.signal)]));
  } finally {
    // An interrupted verb may wait for the server still; its connection ends with the process.
    if (!io.signal.aborted) await client?.close();
  }
}

async function interrupted(signal: AbortSignal): Promise<number> {
  if (!signal.aborted) await once(signal, "abort");
  return INTERRUPTED;
}

/** The options of a verb that are settings; `--data` of one verb need not be the `--data` of another. */
function settingFlags(verb: Verb, options: object): SettingFlags {
  const names = (verb.options ?? []).flatMap(({ setting }) => (setting === undefined ? [] : [setting]));
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name as keyof SettingFlags)));
}
