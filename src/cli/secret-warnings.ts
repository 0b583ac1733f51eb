import type { RepositoryItem, SecretItem } from "../server/client.ts";
import { say } from "./io.ts";
import type { RepositoryFlags } from "./repository-fields.ts";
import type { VerbContext } from "./verb.ts";

interface Need {
  readonly secret: string | undefined;
  /** Sets of keys; one of them must be there whole. */
  readonly anyOf: readonly (readonly string[])[];
  readonly until: string;
  /** What of `sless secret set` mends it. */
  readonly keys: string;
}

/**
 * Warns on stderr of secrets that the flags name and that are not there, or lack what they are named for: a repository
 * may be written first and its secrets after, but nobody shall wait for a webhook that is let in by nothing.
 */
export async function warnOfSecrets(flags: RepositoryFlags, item: RepositoryItem, context: VerbContext): Promise<void> {
  const needs: readonly Need[] = [
    {
      secret: flags.webhookSecret && item.webhook_secret_ref?.name,
      anyOf: [["token"], ["token.previous"]],
      until: "no webhook is let in",
      keys: "token=-",
    },
    {
      secret: flags.secret && item.secret_ref?.name,
      anyOf: [["username", "password"], ["token"], ["ca.crt"]],
      until: "the repository is not fetched",
      keys: "token=-",
    },
  ];
  if (!needs.some(({ secret }) => secret)) return;
  const secrets = await knownSecrets(context);
  const { namespace } = context.settings;
  for (const need of needs) {
    const { secret, until, keys } = need;
    if (!secret || !secrets || hasAny(secrets, need)) continue;
    const lack = secrets.some(({ name }) => name === secret) ? "has not the keys for it" : "is not there";
    say(context.io.stderr, `warning: secret ${namespace}/${secret} ${lack}; until then ${until}.`);
    say(context.io.stderr, `  Write it with \`sless secret set ${secret} ${keys}\`.`);
  }
}

function hasAny(secrets: readonly SecretItem[], { secret, anyOf }: Need): boolean {
  const keys = secrets.find(({ name }) => name === secret)?.keys ?? [];
  return anyOf.some((wanted) => wanted.every((key) => keys.includes(key)));
}

/** The secrets of the namespace; undefined for whoever may not list them. */
export async function knownSecrets({
  client,
  settings,
}: Pick<VerbContext, "client" | "settings">): Promise<readonly SecretItem[] | undefined> {
  try {
    return await client().listSecrets({ namespace: settings.namespace });
  } catch {
    return undefined;
  }
}
