import { setTimeout as wait } from "node:timers/promises";
import { type Completion, completionsOf, type NameSources } from "./completions.ts";
import { say } from "./io.ts";
import type { Verb, VerbContext } from "./verb.ts";
import { VERBS } from "./verbs.ts";

/** Somebody waits at a prompt: what the server does not tell by then is left out. */
const ANSWER_WITHIN_MS = 1_000;

/** Asked by the scripts of `sless completion`; says nothing rather than something wrong. */
export const complete: Verb = {
  name: "__complete",
  hidden: true,
  summary: "Print what the last word of a command line may become",
  arguments: [{ name: "[words...]", description: "the words after sless" }],
  examples: [{ line: "sless __complete -- get functions ''", does: "names of functions" }],
  async run(words, _options, context) {
    const found = await completionsOf(words, VERBS, sourcesOf(words, context)).catch((): Completion[] => []);
    for (const { word, does } of found) say(context.io.stdout, does === undefined ? word : `${word}\t${does}`);
    return 0;
  },
};

function sourcesOf(words: readonly string[], { deps, settings }: VerbContext): NameSources {
  // Not the verb's own, for whose open calls its end would wait.
  const client = deps.createClient({
    endpoint: valueOfFlag(words, ["--endpoint"]) ?? settings.endpoint,
    token: valueOfFlag(words, ["--token"]) ?? settings.token,
  });
  const namespace = valueOfFlag(words, ["-n", "--namespace"]) ?? settings.namespace;
  const quickly = async (read: Promise<readonly { name: string }[]>): Promise<string[]> => {
    const late = wait(ANSWER_WITHIN_MS, [], { ref: false });
    const items = await Promise.race([read.catch(() => []), late]);
    return items.map(({ name }) => name);
  };
  return {
    objects: (plural) => quickly(client.list(plural, { namespace })),
    secrets: () => quickly(client.listSecrets({ namespace })),
    runtimes: async () => [...(await deps.loadRuntimes()).keys()],
  };
}

/** Of the line that is completed, which no option of ours may read. */
function valueOfFlag(words: readonly string[], flags: readonly string[]): string | undefined {
  const at = words.findLastIndex((word, index) => flags.includes(word) && index < words.length - 2);
  return at < 0 ? undefined : words[at + 1];
}
