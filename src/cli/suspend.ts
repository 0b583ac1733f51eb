import { printObjects } from "./get.ts";
import { say } from "./io.ts";
import { kindNamed } from "./kind-names.ts";
import { OUTPUT_OPTION, type OutputForm } from "./output.ts";
import { requiredRepository } from "./repository-argument.ts";
import { CLIENT_OPTIONS, REPOSITORY_ARGUMENTS, type Verb, type VerbContext } from "./verb.ts";

interface SuspendOptions {
  readonly output?: OutputForm;
}

const OPTIONS = [{ ...OUTPUT_OPTION, description: "the repository in this form instead" }, ...CLIENT_OPTIONS];

export const suspend: Verb<SuspendOptions> = {
  name: "suspend",
  summary: "Stop following a repository; what runs goes on",
  arguments: REPOSITORY_ARGUMENTS,
  options: OPTIONS,
  examples: [{ line: "sless suspend repository example", does: "pushes change nothing until it is resumed" }],
  run: async (args, options, context) =>
    setSuspend(await requiredRepository(args, "suspend", context), true, options, context),
};

export const resume: Verb<SuspendOptions> = {
  name: "resume",
  summary: "Follow a suspended repository again",
  arguments: REPOSITORY_ARGUMENTS,
  options: OPTIONS,
  examples: [{ line: "sless resume repository example", does: "its newest commit is synced at once" }],
  run: async (args, options, context) =>
    setSuspend(await requiredRepository(args, "resume", context), false, options, context),
};

async function setSuspend(
  name: string,
  wanted: boolean,
  { output }: SuspendOptions,
  context: VerbContext,
): Promise<number> {
  const { io, settings, client } = context;
  const { namespace } = settings;
  const { suspend: before } = await client().get("repositories", name, { namespace });
  if (before !== wanted) await client().patch("repositories", name, { suspend: wanted }, { namespace });
  if (output) return printObjects(kindNamed("Repository", "get"), name, output, context);
  say(io.stdout, `repository/${name} is ${wanted ? "suspended" : "followed"} ${before === wanted ? "already" : "now"}`);
  return 0;
}
