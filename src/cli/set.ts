import { isDeepStrictEqual } from "node:util";
import { SlessError } from "../errors/index.ts";
import type { RepositoryItem } from "../server/client.ts";
import { requiredRepository } from "./repository-argument.ts";
import { REPOSITORY_OPTIONS, type RepositoryFlags, repositoryFields } from "./repository-fields.ts";
import { tellWritten, WRITTEN_OPTIONS, type WrittenFlags } from "./repository-written.ts";
import { warnOfSecrets } from "./secret-warnings.ts";
import { REPOSITORY_ARGUMENTS, type Verb } from "./verb.ts";

const VERB = "set";

export const setVerb: Verb<RepositoryFlags & WrittenFlags> = {
  name: VERB,
  summary: 'Change how a repository is followed; only what is named changes, "" is the default again',
  arguments: REPOSITORY_ARGUMENTS,
  options: [
    { flags: "--url <address>", description: "https or http address, without a credential" },
    ...REPOSITORY_OPTIONS,
    ...WRITTEN_OPTIONS,
  ],
  examples: [
    { line: "sless set repository team --branch next --wait", does: "another branch, synced at once" },
    { line: "sless set repository team --interval 5m --secret git", does: "asked less often, with a credential" },
    { line: 'sless set repository team --path ""', does: "all of it again" },
    { line: "sless set repository team --deletion-policy Delete", does: "its objects go with it" },
  ],
  async run(args, flags, context) {
    const name = await requiredRepository(args, VERB, context);
    const fields = repositoryFields(flags, VERB);
    if (Object.keys(fields).length === 0)
      throw new SlessError("usage_invalid", {
        cause: `nothing is named that changes in repository ${name}`,
        verb: VERB,
      });
    const { namespace } = context.settings;
    const before = await context.client().get("repositories", name, { namespace });
    const item = await context.client().patch("repositories", name, fields, { namespace });
    await warnOfSecrets(flags, item, context);
    const changed = Object.keys(fields).filter((field) => isChanged(field as keyof RepositoryItem, before, item));
    const done = changed.length > 0 ? `changed: ${changed.join(", ")}` : "is so already";
    return tellWritten(item, `repository/${name} ${done}`, flags, context);
  },
};

function isChanged(field: keyof RepositoryItem, before: RepositoryItem, item: RepositoryItem): boolean {
  return !isDeepStrictEqual(before[field], item[field]);
}
