const NEWLINE = 10;

/** The last `count` lines of an output that ends; a last line without an end of its own counts. Keeps no more than those. */
export async function* lastLines(output: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  if (count === 0) return;
  let lines: Buffer[] = [];
  let open: Buffer[] = [];
  for await (const chunk of output) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      lines.push(Buffer.concat([...open, chunk.subarray(from, end + 1)]));
      open = [];
      from = end + 1;
    }
    if (from < chunk.length) open.push(Buffer.from(chunk.subarray(from)));
    lines = lines.slice(-count);
  }
  if (open.length > 0) lines.push(Buffer.concat(open));
  yield* lines.slice(-count);
}
