import { ambiguityOf, plainValue } from "./plain-scalar.ts";

/** How a scalar stands in a file. */
export type ScalarStyle = "plain" | "single" | "double" | "block" | "folded";

export interface ScalarPlace {
  readonly inFlow: boolean;
  /** Spaces before the lines of a block scalar. */
  readonly indent: string;
  readonly eol: string;
  /** The style to keep where the value allows it; without one it is chosen. */
  readonly style?: ScalarStyle | undefined;
}

/** Letters of any script and what neither YAML nor a reader takes for syntax; anything else goes into quotes. */
const PLAIN = /^[\p{L}\p{N}_/$(](?:[\p{L}\p{N} _./$()^+=~;@%!?<>,:-]*[\p{L}\p{N}_./$()^+=~;@%!?<>-])?$/u;
/** What stands in a file as it is: no control characters, no line breaks of other systems, no byte order marks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffd-\uffff]/;
const UNPRINTABLE_AFTER_JSON = /[\x7f-\x9f\u2028\u2029\ufeff\ufffd-\uffff]/g;

/** Lines of folded text are no longer, indentation included, where their words allow it. */
const FOLDED_WIDTH = 80;

/** A JSON scalar as YAML of both versions reads it back. A block scalar ends with a line end. */
export function renderScalar(value: unknown, place: ScalarPlace): string {
  if (typeof value !== "string") return JSON.stringify(value);
  switch (place.style) {
    case "double":
      return doubleQuoted(value);
    case "single":
      return isPrintable(value) && !/[\n\t]/.test(value) ? `'${value.replaceAll("'", "''")}'` : doubleQuoted(value);
    case "folded":
      if (!place.inFlow && value !== "" && fitsBlock(value)) return blockFolded(value, place);
      return renderScalar(value, { ...place, style: "plain" });
    default:
      if (value.includes("\n") && !place.inFlow && fitsBlock(value)) return blockLiteral(value, place);
      if (place.style === "block" && !place.inFlow && value !== "" && fitsBlock(value))
        return blockLiteral(value, place);
      return isPlain(value, place.inFlow) ? value : doubleQuoted(value);
  }
}

/** A key, in double quotes where its neighbours are (a file that is JSON stays JSON). */
export function renderKey(key: string, isJson: boolean): string {
  return !isJson && isPlain(key, true) ? key : doubleQuoted(key);
}

function isPlain(text: string, inFlow: boolean): boolean {
  if (!PLAIN.test(text) || / #|: /.test(text) || (inFlow && text.includes(","))) return false;
  return typeof plainValue(text) === "string" && ambiguityOf(text) === undefined;
}

function isPrintable(text: string): boolean {
  return text.isWellFormed() && !UNPRINTABLE.test(text);
}

/** JSON, with what YAML does not take as it is escaped too. */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    UNPRINTABLE_AFTER_JSON,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** No line whose blanks an editor would take away, and no first line whose blanks would count as indentation. */
function fitsBlock(text: string): boolean {
  return isPrintable(text) && !/[ \t]$/m.test(text) && !/^[ \t\n]/.test(text) && !text.endsWith("\n\n");
}

/** Each line end is one more in the file; a line that begins with a blank would be taken as it is. */
function blockFolded(text: string, place: ScalarPlace): string {
  if (/\n[ \t]/.test(text)) return blockLiteral(text, place);
  const isEnded = text.endsWith("\n");
  const { indent, eol } = place;
  const lines = (isEnded ? text.slice(0, -1) : text).replaceAll(/\n+/g, "$&\n").split("\n");
  const width = FOLDED_WIDTH - indent.length;
  const folded = lines.flatMap((line) => (line === "" ? [""] : foldedLines(line, width).map((part) => indent + part)));
  return [isEnded ? ">" : ">-", ...folded, ""].join(eol);
}

/** Breaks at single blanks only: these alone come back when the lines are joined. */
function foldedLines(line: string, width: number): string[] {
  const lines: string[] = [];
  let present: string | undefined;
  for (const word of line.split(/(?<=\S) (?=\S)/)) {
    if (present === undefined) present = word;
    else if (present.length + 1 + word.length <= width) present += ` ${word}`;
    else {
      lines.push(present);
      present = word;
    }
  }
  return [...lines, present ?? ""];
}

function blockLiteral(text: string, { indent, eol }: ScalarPlace): string {
  const isEnded = text.endsWith("\n");
  const lines = (isEnded ? text.slice(0, -1) : text).split("\n");
  return [isEnded ? "|" : "|-", ...lines.map((line) => (line === "" ? "" : indent + line)), ""].join(eol);
}
