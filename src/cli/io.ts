import type { Environment } from "../config/index.ts";

/** Where a verb writes. */
export interface Output {
  readonly isTTY: boolean;
  /** Width of the terminal; undefined elsewhere. */
  readonly columns: number | undefined;
  /** Resolves when more may be written; undefined = at once. */
  write(chunk: string | Uint8Array): Promise<void> | undefined;
}

export interface Input extends AsyncIterable<Uint8Array> {
  readonly isTTY: boolean;
}

/** All that a verb sees of the process it runs in; tests pass their own. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  /** Absolute; relative paths of the command line start here. */
  readonly cwd: string;
  /** Aborts when the user wants the verb to end (Ctrl-C, SIGTERM). */
  readonly signal: AbortSignal;
}

/** Writes a line. */
export function say(to: Output, line: string): void {
  to.write(`${line}\n`);
}

/** All of the input as one piece, at most `limit` bytes; undefined when there is more. */
export async function readAll(input: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The first line of the input without its end; empty at the end of the input. */
export async function readLine(input: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of input) {
    text += Buffer.from(chunk).toString("utf8");
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end).trimEnd();
  }
  return text.trimEnd();
}
