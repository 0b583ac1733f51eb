import { type ItemOf, isMessageTruncated, type Plural } from "../server/client.ts";
import { tableOf } from "./columns.ts";
import { say } from "./io.ts";
import { KIND_WORDS, kindAndName, type NamedKind } from "./kind-names.ts";
import { OUTPUT_OPTION, type OutputForm, serialized } from "./output.ts";
import { tableLines } from "./table.ts";
import { READ_OPTIONS, type Verb, type VerbContext } from "./verb.ts";

interface GetOptions {
  readonly output?: OutputForm;
}

export const get: Verb<GetOptions> = {
  name: "get",
  summary: "List objects of a kind, or show one",
  arguments: [
    { name: "<kind>", description: `${KIND_WORDS.join(", ")}; singular and short names too`, completes: "kind" },
    { name: "[name]", description: "only this one", completes: "name" },
  ],
  options: [OUTPUT_OPTION, ...READ_OPTIONS],
  examples: [
    { line: "sless get functions", does: "all functions with phase and URL" },
    { line: "sless get fn hello -o yaml", does: "one function as its whole object" },
    { line: "sless get triggers -o name", does: "names only, for scripts" },
  ],
  async run(args, { output }, context) {
    const { named, name } = kindAndName(args, "get");
    return printObjects(named, name, output, context);
  },
};

/** Objects of a kind, or the one that is named, in a form of `-o`. */
export async function printObjects(
  named: NamedKind,
  name: string | undefined,
  form: OutputForm | undefined,
  context: VerbContext,
): Promise<number> {
  if (form === "json" || form === "yaml") return printWhole(named, name, form, context);
  return printTable(named, name, form, context);
}

async function printWhole(
  { plural, singular }: NamedKind,
  name: string | undefined,
  form: "json" | "yaml",
  { io, settings, client }: VerbContext,
): Promise<number> {
  const { namespace } = settings;
  if (name !== undefined) {
    io.stdout.write(serialized(await client().getObject(plural, name, { namespace }), form));
    return 0;
  }
  const items = await client().listObjects(plural, { namespace });
  io.stdout.write(serialized({ items }, form));
  const cut = items.filter(isMessageTruncated);
  if (cut[0]) {
    const example = `sless get ${singular} ${cut[0].metadata.name} -o ${form}`;
    say(io.stderr, `status.message is cut in ${cut.length} of these; \`${example}\` prints it whole.`);
  }
  return 0;
}

async function printTable(
  { plural, singular }: NamedKind,
  name: string | undefined,
  form: "wide" | "name" | undefined,
  { io, settings, client }: VerbContext,
): Promise<number> {
  const { namespace } = settings;
  const items: ItemOf[Plural][] =
    name === undefined ? await client().list(plural, { namespace }) : [await client().get(plural, name, { namespace })];
  if (form === "name") for (const item of items) say(io.stdout, `${singular}/${item.name}`);
  else if (items.length === 0) say(io.stderr, `No ${plural} in namespace ${namespace}.`);
  else {
    const { header, rows } = tableOf(plural, items as never[], { wide: form === "wide", now: new Date() });
    for (const line of tableLines(header, rows)) say(io.stdout, line);
  }
  return 0;
}
