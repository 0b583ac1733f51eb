import { SlessError } from "../errors/index.ts";
import type { HeldDeletion } from "../server/client.ts";
import { readLine, say } from "./io.ts";
import { nameOf } from "./kind-names.ts";
import { inForm, RESULT_OPTION, type ResultForm } from "./output.ts";
import { requiredRepository } from "./repository-argument.ts";
import { CLIENT_OPTIONS, REPOSITORY_ARGUMENTS, type Verb } from "./verb.ts";

interface ApproveOptions {
  readonly yes?: boolean;
  readonly output?: ResultForm;
}

export const approve: Verb<ApproveOptions> = {
  name: "approve",
  summary: "Approve the deletions that a repository's guard holds",
  arguments: REPOSITORY_ARGUMENTS,
  options: [{ flags: "-y, --yes", description: "do not ask" }, RESULT_OPTION, ...CLIENT_OPTIONS],
  examples: [
    { line: "sless approve example", does: "list what is held, ask, approve exactly that" },
    { line: "sless approve example --yes", does: "for scripts" },
  ],
  async run(args, { yes = false, output }, context) {
    const { io, settings, client } = context;
    const { namespace } = settings;
    const repository = await requiredRepository(args, "approve", context);
    // Whoever reads the outcome from stdout wants nothing else there.
    const to = output ? io.stderr : io.stdout;
    const end = (approved: readonly HeldDeletion[], code: number) => {
      if (output) io.stdout.write(inForm(output, { approved }, approved.map(nameOf)));
      return code;
    };
    const { held } = await client().plan(repository, { namespace });
    if (held.length === 0) {
      say(to, `Nothing of ${repository} waits for an approval.`);
      return end([], 0);
    }
    const counted = `${held.length} ${held.length === 1 ? "deletion" : "deletions"}`;
    say(to, `${counted} of ${repository} ${held.length === 1 ? "waits" : "wait"} for an approval:`);
    for (const { kind, name } of held) say(to, `  - ${kind}/${namespace}/${name}`);
    if (!yes) {
      if (!io.stdin.isTTY) throw new SlessError("confirmation_needed", { what: `Deleting ${held.length} objects` });
      to.write(`Delete ${held.length === 1 ? "it" : "all of them"}? [y/N] `);
      if (!/^y(es)?$/i.test(await readLine(io.stdin))) {
        say(to, "Nothing approved.");
        return end([], 1);
      }
    }
    // Exactly what was shown: a deletion that was held meanwhile needs an approval of its own.
    const { approved } = await client().approve(repository, { namespace, deletions: held });
    say(to, `Approved ${approved.length} of ${counted}; they go with the next sync.`);
    return end(approved, approved.length === held.length ? 0 : 1);
  },
};
