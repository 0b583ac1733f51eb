/** One answer of `git cat-file`: the words of its first line, and with `--batch` the object's bytes. */
export interface Answer {
  readonly words: readonly string[];
  readonly content: Uint8Array | undefined;
}

const HEADER_MAX_BYTES = 4096;

/**
 * Takes the output of `git cat-file --batch` (`withContent`) or `--batch-check` apart in one pass, however it is cut
 * into chunks. Contents are copied once, so that a small object does not keep its chunk alive.
 *
 * @returns a function that takes the next chunk; it throws on output that no git writes, or on an object of more than
 *   `maxBytes`.
 */
export function answerParser(options: {
  readonly withContent: boolean;
  readonly maxBytes: () => number;
  readonly onAnswer: (answer: Answer) => void;
}): (chunk: Buffer) => void {
  let header = Buffer.alloc(0);
  let words: readonly string[] = [];
  let content: Uint8Array | undefined;
  let filled = 0;

  function readHeader(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(0x0a, at);
    if (end < 0) {
      header = Buffer.concat([header, chunk.subarray(at)]);
      if (header.length > HEADER_MAX_BYTES) throw new Error("git answered with an endless line");
      return chunk.length;
    }
    const line = header.toString("latin1") + chunk.toString("latin1", at, end);
    if (header.length > 0) header = Buffer.alloc(0);
    words = line.split(" ");
    const size = Number(words[2]);
    if (!options.withContent || words.length !== 3 || !Number.isSafeInteger(size)) {
      options.onAnswer({ words, content: undefined });
    } else if (size > options.maxBytes()) {
      throw new Error(`an object has ${size} bytes`);
    } else {
      content = new Uint8Array(size);
      filled = 0;
    }
    return end + 1;
  }

  function readContent(chunk: Buffer, at: number, target: Uint8Array): number {
    const count = Math.min(target.length - filled, chunk.length - at);
    target.set(chunk.subarray(at, at + count), filled);
    filled += count;
    if (at + count === chunk.length) return chunk.length;
    // Here the object is complete and its line feed is in the chunk.
    content = undefined;
    options.onAnswer({ words, content: target });
    return at + count + 1;
  }

  return (chunk) => {
    let at = 0;
    while (at < chunk.length) at = content ? readContent(chunk, at, content) : readHeader(chunk, at);
  };
}
