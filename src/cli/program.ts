import { Argument, Command, Option } from "commander";
import type { Io } from "./io.ts";
import { type ArgumentRow, type Example, GROUPS, type OptionRow, type Verb } from "./verb.ts";

/** Runs a verb with what the command line gave it. */
export type RunVerb = (verb: Verb, args: readonly string[], options: object) => Promise<void>;

/** The verbs as a commander program that never ends the process and writes to `io` alone. */
export function createProgram(verbs: readonly Verb[], io: Io, run: RunVerb): Command {
  const program = new Command("sless")
    .description("Functions deployed by git push.")
    .usage("<verb> [options]")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("See `sless --help`.");
  for (const verb of verbs) {
    const command = toCommand(verb, program, run);
    parentOf(verb, program).addCommand(command, { hidden: verb.hidden ?? false });
  }
  return program;
}

/** What stands before the last word of a verb (`secret` of `secret set`) is a command that only holds others. */
function parentOf({ name }: Verb, program: Command): Command {
  const [group, member] = name.split(" ");
  if (member === undefined || group === undefined) return program;
  const known = program.commands.find((command) => command.name() === group);
  if (known) return known;
  const made = new Command(group)
    .description(GROUPS[group] ?? "")
    .usage("<verb> [options]")
    .helpCommand(false)
    .copyInheritedSettings(program)
    .showHelpAfterError(`See \`sless ${group} --help\`.`);
  program.addCommand(made);
  return made;
}

function toCommand(verb: Verb, program: Command, run: RunVerb): Command {
  const command = new Command(verb.name.split(" ").at(-1))
    .copyInheritedSettings(program)
    .description(verb.summary)
    .addHelpText("after", examplesText(verb.examples));
  for (const row of verb.arguments ?? []) command.addArgument(toArgument(row));
  for (const row of verb.options ?? []) {
    const option = toOption(row);
    command.addOption(option);
    if (!row.mayBeEmpty) command.on(`option:${option.name()}`, (value: unknown) => refuseEmpty(command, row, value));
  }
  return command
    .showHelpAfterError(`See \`sless ${verb.name} --help\`.`)
    .action(() => run(verb, command.args, command.opts()));
}

/** `--into "$FOLDER"` without such a variable does not mean the folder that one happens to be in. */
function refuseEmpty(command: Command, { flags }: OptionRow, value: unknown): void {
  if (value === "") command.error(`error: option '${flags}' is given an empty text`);
}

function toArgument({ name, description }: ArgumentRow): Argument {
  return new Argument(name, description);
}

function toOption({ flags, description, choices, fallback, repeated, required }: OptionRow): Option {
  const option = new Option(flags, description);
  if (choices) option.choices(choices);
  if (fallback !== undefined) option.default(fallback);
  if (repeated) option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  return option.makeOptionMandatory(required ?? false);
}

function examplesText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ line }) => line.length));
  return ["", "Examples:", ...examples.map(({ line, does }) => `  ${line.padEnd(width)}   ${does}`)].join("\n");
}
