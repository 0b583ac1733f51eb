/** A command of a page, and what it prints; a line `…` stands for any number of lines, `…` in a line for any text. */
export interface ConsoleStep {
  readonly command: string;
  readonly expected: readonly string[];
  /** Line of the page, from 1. */
  readonly line: number;
}

/** A block without a command shows what the server, started earlier, prints meanwhile. */
export interface ServerOutput {
  readonly expected: readonly string[];
  readonly line: number;
}

export type Step = ({ readonly kind: "command" } & ConsoleStep) | ({ readonly kind: "server" } & ServerOutput);

/**
 * The steps of all blocks ```console of a Markdown page, in order. A line `$ command` may go on after a backslash;
 * what follows up to the next one is its output. Pure.
 */
export function consoleSteps(page: string): Step[] {
  const steps: Step[] = [];
  const lines = page.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at] !== "```console") continue;
    const end = lines.indexOf("```", at);
    steps.push(...blockSteps(lines.slice(at + 1, end), at + 2));
    at = end;
  }
  return steps;
}

function blockSteps(block: readonly string[], firstLine: number): Step[] {
  if (!block.some((line) => line.startsWith("$ "))) return [{ kind: "server", expected: block, line: firstLine }];
  const steps: { kind: "command"; command: string; expected: string[]; line: number }[] = [];
  let goesOn = false;
  for (const [index, line] of block.entries()) {
    const current = steps.at(-1);
    if (line.startsWith("$ "))
      steps.push({ kind: "command", command: line.slice(2), expected: [], line: firstLine + index });
    else if (goesOn && current) current.command += `\n${line}`;
    else current?.expected.push(line);
    goesOn = line.endsWith("\\") && (line.startsWith("$ ") || goesOn);
  }
  return steps;
}

/** What differs from run to run becomes the same: durations, ages, commit ids. */
function settled(line: string): string {
  return line
    .replaceAll(/\b\d+(\.\d+)?(ms|m\d+s|s|m|h)\b/g, "<time>")
    .replaceAll(/\b[0-9a-f]{7,64}\b/g, "<id>")
    .replaceAll(/[ \t]+/g, " ")
    .trimEnd();
}

/** The lines are there, in this order and from the first to the last unless `…` says otherwise. Pure. */
export function matchesOutput(seen: readonly string[], expected: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return seen.length === 0;
  if (first.trim() === "…") {
    if (rest.length === 0) return true;
    return seen.some((_, index) => matchesOutput(seen.slice(index), rest));
  }
  return seen[0] !== undefined && matchesLine(seen[0], first) && matchesOutput(seen.slice(1), rest);
}

/** The lines are there in this order, perhaps with others between and around them. Pure. */
export function holdsLines(seen: readonly string[], expected: readonly string[]): boolean {
  let at = 0;
  for (const line of seen) if (at < expected.length && matchesLine(line, expected[at]!)) at += 1;
  return at === expected.length;
}

function matchesLine(seen: string, expected: string): boolean {
  const parts = settled(expected).split("…");
  const pattern = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join(".*");
  return new RegExp(`^${pattern}$`).test(settled(seen));
}
