import { SlessError } from "../errors/index.ts";
import { say } from "./io.ts";
import { inForm, RESULT_OPTION, type ResultForm } from "./output.ts";
import { knownSecrets } from "./secret-warnings.ts";
import { CLIENT_OPTIONS, type Verb } from "./verb.ts";

interface DeleteOptions {
  readonly output?: ResultForm;
}

export const secretDelete: Verb<DeleteOptions> = {
  name: "secret delete",
  summary: "Delete a secret, or keys of it",
  arguments: [
    { name: "<name>", description: "name of the secret", completes: "secret" },
    { name: "[keys...]", description: "only these keys" },
  ],
  options: [RESULT_OPTION, ...CLIENT_OPTIONS],
  examples: [
    { line: "sless secret delete api", does: "all of it; what runs with it goes on, and tells that it is missing" },
    { line: "sless secret delete api token", does: "one key" },
  ],
  async run([name = "", ...keys], { output }, { io, settings, client }) {
    const { namespace } = settings;
    if (keys.length === 0) await client().deleteSecret(name, { namespace });
    else {
      const secrets = await knownSecrets({ client, settings });
      const known = secrets?.find((secret) => secret.name === name)?.keys ?? [];
      const missing = secrets && keys.find((key) => !known.includes(key));
      if (missing !== undefined)
        throw new SlessError("not_found", { what: `Key ${missing} of secret ${namespace}/${name}` });
      const values = Object.fromEntries(keys.map((key) => [key, null]));
      await client().writeSecret(name, values, { namespace, replace: false });
    }
    if (output)
      io.stdout.write(inForm(output, { name, deleted: keys.length === 0 ? "all" : keys }, [`secret/${name}`]));
    else
      for (const what of keys.length === 0 ? [""] : keys)
        say(io.stdout, `secret/${name} ${what} deleted`.replace("  ", " "));
    return 0;
  },
};
