import { SlessError } from "../errors/index.ts";
import { say } from "./io.ts";
import { kindAndName, type NamedKind } from "./kind-names.ts";
import { inForm, RESULT_OPTION, type ResultForm } from "./output.ts";
import { CLIENT_OPTIONS, type Verb, type VerbContext } from "./verb.ts";

interface DeleteOptions {
  readonly output?: ResultForm;
}

export const deleteVerb: Verb<DeleteOptions> = {
  name: "delete",
  summary: "Delete objects; one of a repository is deleted there, by a push",
  arguments: [
    { name: "<kind>", description: "kind, or kind/name", completes: "kind" },
    { name: "[names...]", description: "names, or more of kind/name", completes: "name" },
  ],
  options: [RESULT_OPTION, ...CLIENT_OPTIONS],
  examples: [
    { line: "sless delete function hello", does: "it ends; calls in flight may end within their limit" },
    { line: "sless delete job/report trigger/nightly", does: "a running job is cancelled" },
    { line: "sless delete repository example", does: "its objects stay, unless its deletionPolicy is Delete" },
  ],
  async run(args, { output }, context) {
    const { io, settings, client } = context;
    const { namespace } = settings;
    const items: object[] = [];
    const objects = objectsOf(args);
    // All of the line is understood before anything is deleted.
    for (const { named, name } of objects) {
      const after = !output && named.kind === "Repository" ? await aftermath(name, context) : "";
      const outcome = await client().delete(named.plural, name, { namespace });
      items.push({ kind: named.kind, name, outcome });
      const told = outcome === "terminating" ? "is being deleted" : "deleted";
      if (!output) say(io.stdout, `${named.singular}/${name} ${told}${after}`);
    }
    if (output) {
      const names = objects.map(({ named, name }) => `${named.singular}/${name}`);
      io.stdout.write(inForm(output, { items }, names));
    }
    return 0;
  },
};

/** What becomes of the objects of a repository that is deleted. */
async function aftermath(name: string, { settings, client }: VerbContext): Promise<string> {
  const { objects, deletion_policy: policy } = await client().get("repositories", name, {
    namespace: settings.namespace,
  });
  if (objects === 0) return "; it had no objects";
  const many = objects === 1 ? "its object" : `its ${objects} objects`;
  const [is, stays] = objects === 1 ? ["is", "stays"] : ["are", "stay"];
  return policy === "Delete"
    ? `; ${many} ${is} deleted too (deletionPolicy Delete)`
    : `; ${many} ${stays} and belong${objects === 1 ? "s" : ""} to nobody (deletionPolicy Orphan)`;
}

/** `function a b` or `function/a trigger/b`. @throws SlessError `usage_invalid` */
function objectsOf(words: readonly string[]): { named: NamedKind; name: string }[] {
  const [kind = "", ...names] = words;
  const pairs = kind.includes("/") ? words.map((word) => [word]) : names.map((name) => [kind, name]);
  if (pairs.length === 0) throw needsName(kindAndName(words, "delete").named.singular);
  return pairs.map((pair) => {
    const { named, name } = kindAndName(pair, "delete");
    if (name === undefined) throw needsName(named.singular);
    return { named, name };
  });
}

function needsName(singular: string): SlessError {
  return new SlessError("usage_invalid", { cause: `delete needs the name of a ${singular}`, verb: "delete" });
}
