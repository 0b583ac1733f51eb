import { say } from "./io.ts";
import { OUTPUT_OPTION, type OutputForm, serialized } from "./output.ts";
import { tableLines } from "./table.ts";
import { CLIENT_OPTIONS, type Verb } from "./verb.ts";

interface ListOptions {
  readonly output?: OutputForm;
}

export const secretList: Verb<ListOptions> = {
  name: "secret list",
  summary: "List secrets with their keys; values are never shown",
  options: [OUTPUT_OPTION, ...CLIENT_OPTIONS],
  examples: [{ line: "sless secret list", does: "which secrets are there, and which keys have they?" }],
  async run(_args, { output }, { io, settings, client }) {
    const { namespace } = settings;
    const items = await client().listSecrets({ namespace });
    if (output === "json" || output === "yaml") io.stdout.write(serialized({ items }, output));
    else if (output === "name") for (const { name } of items) say(io.stdout, `secret/${name}`);
    else if (items.length === 0) say(io.stderr, `No secrets in namespace ${namespace}.`);
    else {
      const rows = items.map(({ name, keys }) => [name, keys.join(", ")]);
      for (const line of tableLines(["NAME", "KEYS"], rows)) say(io.stdout, line);
    }
    return 0;
  },
};
