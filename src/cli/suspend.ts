import { say } from "./io.ts";
import { requiredRepository } from "./repository-argument.ts";
import { CLIENT_OPTIONS, REPOSITORY_ARGUMENTS, type Verb, type VerbContext } from "./verb.ts";

export const suspend: Verb = {
  name: "suspend",
  summary: "Stop following a repository; what runs goes on",
  arguments: REPOSITORY_ARGUMENTS,
  options: CLIENT_OPTIONS,
  examples: [{ line: "sless suspend repository example", does: "pushes change nothing until it is resumed" }],
  run: (args, _options, context) => setSuspend(requiredRepository(args, "suspend"), true, context),
};

export const resume: Verb = {
  name: "resume",
  summary: "Follow a suspended repository again",
  arguments: REPOSITORY_ARGUMENTS,
  options: CLIENT_OPTIONS,
  examples: [{ line: "sless resume repository example", does: "its newest commit is synced at once" }],
  run: (args, _options, context) => setSuspend(requiredRepository(args, "resume"), false, context),
};

async function setSuspend(name: string, wanted: boolean, { io, settings, client }: VerbContext): Promise<number> {
  const { namespace } = settings;
  const { suspend: before } = await client().get("repositories", name, { namespace });
  const state = wanted ? "suspended" : "followed";
  if (before === wanted) say(io.stdout, `repository/${name} is ${state} already`);
  else {
    await client().patch("repositories", name, { suspend: wanted }, { namespace });
    say(io.stdout, `repository/${name} is ${state} now`);
  }
  return 0;
}
