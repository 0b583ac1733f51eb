import type { EventItem } from "../server/client.ts";
import { type Io, say } from "./io.ts";
import { kindAndName } from "./kind-names.ts";
import { OUTPUT_OPTION, type OutputForm, serialized } from "./output.ts";
import type { Style } from "./style.ts";
import { ageText, tableLines } from "./table.ts";
import { READ_OPTIONS, type Verb } from "./verb.ts";

interface EventsOptions {
  readonly output?: OutputForm;
  readonly warnings?: boolean;
}

export const events: Verb<EventsOptions> = {
  name: "events",
  summary: "Show what happened lately, oldest first",
  arguments: [
    { name: "[kind]", description: "only of this kind, or of kind/name", completes: "kind" },
    { name: "[name]", description: "only of this object", completes: "name" },
  ],
  options: [{ flags: "--warnings", description: "only what went wrong" }, OUTPUT_OPTION, ...READ_OPTIONS],
  examples: [
    { line: "sless events", does: "of the whole namespace" },
    { line: "sless events function hello", does: "what happened to a function" },
    { line: "sless events --warnings -o json", does: "what went wrong, for a script" },
  ],
  async run(args, { output, warnings = false }, { io, settings, style, client }) {
    const { namespace } = settings;
    const wanted = args.length === 0 ? undefined : kindAndName(args, "events");
    const all = await client().events({ namespace });
    const items = all.filter(
      ({ type, object }) =>
        (!warnings || type === "Warning") &&
        (!wanted || (object.kind === wanted.named.kind && (wanted.name ?? object.name) === object.name)),
    );
    if (output === "json" || output === "yaml") io.stdout.write(serialized({ items }, output));
    else if (items.length === 0) {
      const to = wanted ? ` to ${args.join(" ")}` : "";
      say(io.stderr, `Nothing happened${to} in namespace ${namespace} that is still known.`);
    } else if (output === "name") for (const name of new Set(items.map(objectText))) say(io.stdout, name);
    else printTable(items, output === "wide", io, style);
    return 0;
  },
};

function printTable(items: readonly EventItem[], wide: boolean, io: Io, style: Style): void {
  const now = new Date();
  const rows = items.map((item) => [
    wide ? item.time : ageText(item.time, now),
    item.type,
    item.reason,
    objectText(item),
    item.message,
  ]);
  const [header = "", ...lines] = tableLines([wide ? "TIME" : "AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"], rows);
  say(io.stdout, header);
  for (const [index, line] of lines.entries())
    say(io.stdout, items[index]?.type === "Warning" ? style.bad(line) : line);
}

function objectText({ object }: EventItem): string {
  return kindAndName([object.kind, object.name], "events").named.singular.concat("/", object.name);
}
