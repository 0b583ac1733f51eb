import { stringify } from "yaml";
import type { AnyObject, Condition, Diagnostic, RepositoryStatus, WorkloadStatus } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { say } from "./io.ts";
import { kindAndName } from "./kind-names.ts";
import { nextCallLines } from "./next-calls.ts";
import { inForm, RESULT_OPTION, type ResultForm } from "./output.ts";
import { printableText } from "./printable.ts";
import type { Style } from "./style.ts";
import { oneLine, shortRevision, tableLines } from "./table.ts";
import { READ_OPTIONS, type Verb } from "./verb.ts";

interface DescribeOptions {
  readonly output?: ResultForm;
}

export const describe: Verb<DescribeOptions> = {
  name: "describe",
  summary: "Show all of one object: what is wanted, what is, and why",
  arguments: [
    { name: "<kind>", description: "kind, or kind/name", completes: "kind" },
    { name: "[name]", description: "name", completes: "name" },
  ],
  options: [{ ...RESULT_OPTION, description: "the whole object in this form instead" }, ...READ_OPTIONS],
  examples: [
    { line: "sless describe function hello", does: "why is it not ready?" },
    { line: "sless describe repo/example", does: "faults and held deletions of the last sync" },
  ],
  async run(args, { output }, { io, settings, style, client }) {
    const { named, name } = kindAndName(args, "describe");
    if (name === undefined)
      throw new SlessError("usage_invalid", {
        cause: `describe needs the name of a ${named.singular}`,
        verb: "describe",
      });
    const object = await client().getObject(named.plural, name, { namespace: settings.namespace });
    if (output) io.stdout.write(inForm(output, object, [`${named.singular}/${name}`]));
    else for (const line of descriptionLines(object, style, new Date())) say(io.stdout, line);
    return 0;
  },
};

/** Sections of an object: identity, spec, status, then what is best read as a table or a list. */
export function descriptionLines(object: AnyObject, style: Style, now: Date): string[] {
  const { conditions, ...rest } = (object.status ?? {}) as { conditions?: readonly Condition[] } & RepositoryStatus;
  const { diagnostics, plan, history, ...plain } = rest;
  const workload = (object.kind === "Function" || object.kind === "Service") && object.status?.history;
  return [
    ...fieldLines({
      Kind: object.kind,
      Name: object.metadata.name,
      Namespace: object.metadata.namespace,
      UID: object.metadata.uid,
      Created: object.metadata.creationTimestamp,
      Deleting: object.metadata.deletionTimestamp,
    }),
    ...section("Labels", object.metadata.labels, style),
    ...section("Annotations", object.metadata.annotations, style),
    ...section("Spec", object.spec, style),
    ...section("Status", withoutEmpty(plain), style),
    ...listSection("Conditions", conditionLines(conditions ?? [], style), style),
    ...listSection("Next calls", object.kind === "Trigger" ? nextCallLines(object, now) : [], style),
    ...listSection("Faults", diagnosticLines(diagnostics?.items ?? [], diagnostics?.count ?? 0), style),
    ...listSection(`Plan of ${plan?.revision}`, plan?.actions.map(oneLine) ?? [], style),
    ...listSection("History", workload ? servedLines(workload) : syncLines(history), style),
  ];
}

function syncLines(history: RepositoryStatus["history"] = []): string[] {
  const rows = history.map((entry) => [entry.time, entry.revision, entry.outcome, entry.message]);
  return tableLines(["TIME", "REVISION", "OUTCOME", "MESSAGE"], rows).slice(rows.length > 0 ? 0 : 1);
}

function servedLines(history: NonNullable<WorkloadStatus["history"]>): string[] {
  const rows = history.map(({ number, servedAt, revision, sourceDigest }) => [
    String(number),
    servedAt,
    shortRevision(revision),
    sourceDigest.slice(0, 12),
  ]);
  return tableLines(["NUMBER", "SERVED SINCE", "REVISION", "DIGEST"], rows);
}

/** `file:line:column code message`, and how many more there are. */
export function diagnosticLines(items: readonly Diagnostic[], count: number): string[] {
  const lines = items.map(({ file, line, column, code, message }) => {
    const place = [file, line, column].filter((part) => part !== undefined).join(":");
    return oneLine(`${place} ${code}: ${message}`);
  });
  return count > items.length ? [...lines, `and ${count - items.length} more`] : lines;
}

function conditionLines(conditions: readonly Condition[], style: Style): string[] {
  if (conditions.length === 0) return [];
  const rows = conditions.map(({ type, status, reason, lastTransitionTime }) => [
    type,
    status,
    reason,
    lastTransitionTime,
  ]);
  const [header = "", ...lines] = tableLines(["TYPE", "STATUS", "REASON", "SINCE"], rows);
  return [
    header,
    ...lines.flatMap((line, index) => {
      const { status, message } = conditions[index]!;
      const said = message.split("\n").map((part) => `  ${oneLine(part)}`);
      return [status === "False" ? style.bad(line) : line, ...(message === "" ? [] : said.map(style.weak))];
    }),
  ];
}

function fieldLines(fields: Readonly<Record<string, string | undefined>>): string[] {
  const width = Math.max(...Object.keys(fields).map((key) => key.length)) + 1;
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${`${key}:`.padEnd(width)} ${value}`);
}

function withoutEmpty(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== "" && part !== undefined));
}

function section(title: string, value: object | undefined, style: Style): string[] {
  if (!value || Object.keys(value).length === 0) return [];
  return listSection(title, printableText(stringify(value)).trimEnd().split("\n"), style);
}

function listSection(title: string, lines: readonly string[], style: Style): string[] {
  return lines.length === 0 ? [] : [style.strong(`${title}:`), ...lines.map((line) => `  ${line}`)];
}
