const LINE_MAX_BYTES = 16 * 1024;
const NEWLINE = 10;

export interface LineSplitter {
  /** Lines that are complete now, without their ends. */
  push(chunk: Buffer): Buffer[];
  /** What is left without an end. */
  end(): Buffer[];
}

/** Cuts output into lines. A line beyond `maxBytes` is cut there, so what waits for its end is bounded. */
export function lineSplitter(maxBytes: number = LINE_MAX_BYTES): LineSplitter {
  let open: Buffer = Buffer.alloc(0);

  function push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    const all = open.length === 0 ? chunk : Buffer.concat([open, chunk]);
    let start = 0;
    while (start < all.length) {
      const newline = all.indexOf(NEWLINE, start);
      const end = newline === -1 ? all.length : newline;
      if (end - start > maxBytes) {
        lines.push(all.subarray(start, start + maxBytes));
        start += maxBytes;
      } else if (newline === -1) {
        break;
      } else {
        lines.push(all.subarray(start, newline));
        start = newline + 1;
      }
    }
    // A copy, because a slice would keep the whole chunk alive.
    open = Buffer.from(all.subarray(start));
    return lines;
  }

  function end(): Buffer[] {
    const rest = open;
    open = Buffer.alloc(0);
    return rest.length === 0 ? [] : [rest];
  }

  return { push, end };
}
