/** A line of Git's wire format, or one of its three marks. */
export type PktLine = Buffer | "flush" | "delimiter" | "end";

const MARKS: Readonly<Record<string, Exclude<PktLine, Buffer>>> = {
  "0000": "flush",
  "0001": "delimiter",
  "0002": "end",
};

/**
 * Takes a body apart into lines, however it is cut into chunks.
 *
 * @throws Error for what is no such line, and for a body that ends in the middle of one
 */
export async function* readPktLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<PktLine> {
  let rest = Buffer.alloc(0);
  for await (const chunk of body) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = endOfLine(rest, at); end !== undefined; end = endOfLine(rest, at)) {
      yield MARKS[rest.toString("latin1", at, at + 4)] ?? rest.subarray(at + 4, end);
      at = end;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw new Error("it broke off in the middle of a line");
}

/** Undefined when the line is not all there. */
function endOfLine(bytes: Buffer, at: number): number | undefined {
  if (bytes.length < at + 4) return undefined;
  const digits = bytes.toString("latin1", at, at + 4);
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : 3;
  if (length === 3) throw new Error("it is not what a Git server says");
  const end = at + Math.max(4, length);
  return end <= bytes.length ? end : undefined;
}

/** A line of text with its length before it. */
export function pktLine(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;
}

/** The text of a line, without the line feed that it may have. */
export function textOfLine(line: Buffer): string {
  return line.toString("utf8").replace(/\n$/, "");
}
