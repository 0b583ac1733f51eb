import { repositoryNamed } from "./repository-argument.ts";
import { REPOSITORY_OPTIONS, type RepositoryFlags, repositoryFields } from "./repository-fields.ts";
import { tellWritten, WRITTEN_OPTIONS, type WrittenFlags } from "./repository-written.ts";
import { warnOfSecrets } from "./secret-warnings.ts";
import type { Verb } from "./verb.ts";

const VERB = "create";
const ADDRESS = "https://git.example.com/team/functions.git";

export const create: Verb<RepositoryFlags & WrittenFlags> = {
  name: VERB,
  summary: "Follow a remote repository: what is pushed there is deployed",
  arguments: [
    { name: "<repository>", description: "new name, or the word repository", completes: "repository" },
    { name: "[name]", description: "new name after that word" },
  ],
  options: [
    { flags: "--url <address>", description: "https or http address, without a credential", required: true },
    ...REPOSITORY_OPTIONS,
    ...WRITTEN_OPTIONS,
  ],
  examples: [
    { line: `sless create repository team --url ${ADDRESS} --wait`, does: "its default branch, synced once" },
    { line: `sless create repository live --url ${ADDRESS} --semver 1.x`, does: "the newest release" },
    { line: `sless create repository own --url ${ADDRESS} --secret git`, does: "private: see `sless secret set`" },
  ],
  async run(args, flags, context) {
    const name = repositoryNamed(args, VERB);
    const fields = withoutNulls(repositoryFields(flags, VERB));
    const { namespace } = context.settings;
    const item = await context.client().create("repositories", { name, ...fields }, { namespace });
    await warnOfSecrets(flags, item, context);
    return tellWritten(item, `repository/${name} created`, flags, context);
  },
};

/** What is new has nothing to return from. */
function withoutNulls(fields: object): Record<string, unknown> {
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === "object" ? withoutNulls(value) : value]),
  );
}
