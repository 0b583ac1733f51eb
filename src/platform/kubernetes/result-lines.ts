import { createHash } from "node:crypto";

/**
 * Of a result that the pod's status does not hold, the runtime prints the beginning as the last of all, so:
 * `sless-result <id> <number>/<count> <base64>`. The id is the start of the sha256 of what the parts hold together.
 */
const LINE = /^sless-result ([0-9a-f]{16}) ([1-9]\d{0,2})\/([1-9]\d{0,2}) ([A-Za-z0-9+/]{2,4000}={0,2})$/;
/** Longer lines are none of these. */
export const RESULT_LINE_MAX = 4_096;
/** So many lines a result has at most. */
export const RESULT_LINES_MAX = 64;
/** Handlers may print such lines too: so many that were begun and not ended are remembered. */
const BEGUN_MAX = 4;

export function isResultLine(line: string): boolean {
  return line.length <= RESULT_LINE_MAX && LINE.test(line);
}

export interface ResultLines {
  /** A line of the log, without its end. */
  take(line: string): void;
  /** What the last whole copy holds; undefined when there was none. */
  read(): Buffer | undefined;
}

interface Begun {
  readonly count: number;
  readonly parts: Buffer[];
}

/**
 * Finds the last copy of a result among the lines of a log, in bounded memory whatever stands there.
 *
 * @param fits whether it can be the result that is looked for; others count for nothing
 */
export function resultLines(fits: (bytes: Buffer) => boolean): ResultLines {
  const begun = new Map<string, Begun>();
  let last: Buffer | undefined;

  function begin(id: string, count: number): Begun | undefined {
    if (count > RESULT_LINES_MAX) return undefined;
    begun.delete(id);
    const [oldest] = begun.keys();
    if (begun.size >= BEGUN_MAX && oldest !== undefined) begun.delete(oldest);
    const copy = { count, parts: [] };
    begun.set(id, copy);
    return copy;
  }

  return {
    take(line) {
      if (line.length > RESULT_LINE_MAX) return;
      const [, id, number, count, part] = LINE.exec(line) ?? [];
      if (id === undefined || part === undefined) return;
      const copy = number === "1" ? begin(id, Number(count)) : begun.get(id);
      if (!copy || copy.count !== Number(count) || copy.parts.length + 1 !== Number(number)) return;
      copy.parts.push(Buffer.from(part, "base64"));
      if (copy.parts.length < copy.count) return;
      begun.delete(id);
      const bytes = Buffer.concat(copy.parts);
      if (idOf(bytes) === id && fits(bytes)) last = bytes;
    },
    read: () => last,
  };
}

function idOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
