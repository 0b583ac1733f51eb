import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** The lines of a stream, kept, so that what was said before one listens is found too. */
export interface LineLog {
  /** How many there are. */
  count(): number;
  /** The first line from `since` on for which `read` answers something; waits for it. @throws Error when it does not come */
  find<T>(what: string, read: (line: string) => T | undefined, since?: number): Promise<T>;
}

const WITHIN_MS = 300_000;
const LAST_LINES = 20;

export function openLineLog(stream: Readable): LineLog {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let isClosed = false;
  const wake = () => {
    for (const look of waiting) look();
  };
  const reader = createInterface({ input: stream });
  reader.on("line", (line) => {
    lines.push(line);
    wake();
  });
  reader.on("close", () => {
    isClosed = true;
    wake();
  });

  function find<T>(what: string, read: (line: string) => T | undefined, since = 0): Promise<T> {
    return new Promise((resolve, reject) => {
      let next = since;
      const timer = setTimeout(() => end(() => reject(missing(what))), WITHIN_MS);
      const end = (conclude: () => void) => {
        clearTimeout(timer);
        waiting.delete(look);
        conclude();
      };
      const look = () => {
        for (; next < lines.length; next += 1) {
          const found = read(lines[next]!);
          if (found !== undefined) return end(() => resolve(found));
        }
        if (isClosed) end(() => reject(missing(what)));
      };
      waiting.add(look);
      look();
    });
  }

  const missing = (what: string) =>
    new Error(`${what} never came; the last lines:\n${lines.slice(-LAST_LINES).join("\n")}`);
  return { count: () => lines.length, find };
}
