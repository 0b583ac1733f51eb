/** Replaces a piece of a text; an empty piece is an insertion. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Takes the place of an alias, which may come to say the same once its anchor is changed. */
  readonly ofAlias?: true;
}

/** Applies splices that do not overlap; of those that start at the same place the first one comes first. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  let result = "";
  let at = 0;
  for (const splice of [...splices].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, splice.start) + splice.text;
    at = Math.max(at, splice.end);
  }
  return result + text.slice(at);
}

/** Start of the line that holds an offset. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Start of the line after the one that ends at or behind an offset; the text's end when there is none. */
export function nextLine(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === "\n") return offset;
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** The line ends of a text: those of most of its lines. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  const all = text.split("\n").length - 1;
  const windows = text.split("\r\n").length - 1;
  return windows * 2 > all ? "\r\n" : "\n";
}
