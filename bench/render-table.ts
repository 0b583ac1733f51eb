import { amountText, type Figure, ratioOf } from "./figure.ts";
import type { Machine } from "./machine.ts";

export interface Report {
  /** RFC 3339. */
  readonly date: string;
  readonly machine: Machine;
  readonly figures: readonly Figure[];
}

const HEADER = ["Figure", "Measured", "Baseline", "Ratio", "Target", "Met"];

/** The report as a Markdown table, which can be read in a terminal too, with the machine above and the notes below. */
export function renderTable({ date, machine, figures }: Report): string {
  const { system, processor, cores, memoryGB, node, git, python, functionNode, load } = machine;
  const rows = [HEADER, ...figures.map(rowOf)];
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`);
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const notes = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`- ${name}: ${note}`]));
  return [
    `${date.slice(0, 10)}: ${cores} × ${processor}, ${memoryGB} GB, ${system}; load at the start ${load.toFixed(1)}.`,
    `Node ${node}, git ${git}; functions on Python ${python} and Node ${functionNode}.`,
    "",
    lines[0],
    rule,
    ...lines.slice(1),
    ...(notes.length > 0 ? ["", ...notes] : []),
    "",
  ].join("\n");
}

function rowOf(figure: Figure): string[] {
  const { name, amount, baseline, target } = figure;
  const ratio = ratioOf(figure);
  return [
    name,
    amountText(amount),
    baseline ? `${amountText(baseline)} ${baseline.of}` : "",
    ratio === undefined ? "" : ratio.toFixed(2),
    target?.text ?? "",
    target ? (target.met ? "yes" : "NO") : "",
  ];
}
