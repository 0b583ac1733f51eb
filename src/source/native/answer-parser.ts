/** One answer of `git cat-file`: the words of its first line, and the object's bytes where they were asked for. */
export interface Answer {
  readonly words: readonly string[];
  readonly content: Uint8Array | undefined;
}

const HEADER_MAX_BYTES = 4096;

/**
 * Takes the output of a batch of `git cat-file` apart in one pass, however it is cut into chunks. Contents are copied
 * once, so that a small object does not keep its chunk alive.
 *
 * @param options.maxBytes of the next object; undefined when its content does not follow
 * @returns a function that takes the next chunk; it throws on output that no git writes, or on a larger object
 */
export function answerParser(options: {
  readonly maxBytes: () => number | undefined;
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
    const maxBytes = options.maxBytes();
    if (maxBytes === undefined || words.length !== 3 || !Number.isSafeInteger(size)) {
      options.onAnswer({ words, content: undefined });
    } else if (size > maxBytes) {
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
