import { SlessError } from "../errors/index.ts";
import { readLine, say } from "./io.ts";
import { CLIENT_OPTIONS, type Verb } from "./verb.ts";

interface ApproveOptions {
  readonly yes?: boolean;
}

export const approve: Verb<ApproveOptions> = {
  name: "approve",
  summary: "Approve the deletions that a repository's guard holds",
  arguments: [{ name: "<repository>", description: "name of the repository", completes: ["repositories"] }],
  options: [{ flags: "-y, --yes", description: "do not ask" }, ...CLIENT_OPTIONS],
  examples: [
    { line: "sless approve example", does: "list what is held, ask, approve exactly that" },
    { line: "sless approve example --yes", does: "for scripts" },
  ],
  async run([repository = ""], { yes = false }, { io, settings, client }) {
    const { namespace } = settings;
    const { held } = await client().plan(repository, { namespace });
    if (held.length === 0) {
      say(io.stdout, `Nothing of ${repository} waits for an approval.`);
      return 0;
    }
    const counted = `${held.length} ${held.length === 1 ? "deletion" : "deletions"}`;
    say(io.stdout, `${counted} of ${repository} ${held.length === 1 ? "waits" : "wait"} for an approval:`);
    for (const { kind, name } of held) say(io.stdout, `  - ${kind}/${namespace}/${name}`);
    if (!yes) {
      if (!io.stdin.isTTY) throw new SlessError("confirmation_needed", { what: `Deleting ${held.length} objects` });
      io.stdout.write(`Delete ${held.length === 1 ? "it" : "all of them"}? [y/N] `);
      if (!/^y(es)?$/i.test(await readLine(io.stdin))) {
        say(io.stdout, "Nothing approved.");
        return 1;
      }
    }
    // Exactly what was shown: a deletion that was held meanwhile needs an approval of its own.
    const { approved } = await client().approve(repository, { namespace, deletions: held });
    say(io.stdout, `Approved ${approved.length} of ${counted}; they go with the next sync.`);
    return approved.length === held.length ? 0 : 1;
  },
};
