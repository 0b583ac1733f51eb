import type { Input, Io, Output } from "./io.ts";

/** Exit code of a process that a second signal ended before it could stop by itself. */
const IMPATIENT = 130;
/** Exit code of a process whose output cannot be written. */
const UNWRITABLE = 2;

/**
 * The io of a process, which is this very one. The first SIGINT or SIGTERM aborts `signal`, a second one ends the process at once.
 * A reader that goes away (`sless get functions | head`) ends the process quietly.
 */
export function processIo(own: NodeJS.Process): Io {
  const abort = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    own.on(name, () => (abort.signal.aborted ? own.exit(IMPATIENT) : abort.abort()));
  }
  return {
    stdin: input(own.stdin),
    stdout: output(own.stdout),
    stderr: output(own.stderr),
    env: own.env,
    cwd: own.cwd(),
    signal: abort.signal,
  };
}

/** Ends the process once everything that was written is on its way; what still runs (a late child, a connection) is left. */
export async function endProcess(code: number): Promise<never> {
  const written = [process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write("", done)));
  await Promise.all(written);
  process.exit(code);
}

function output(stream: NodeJS.WriteStream): Output {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    // A full disk below a redirection; what stands there is not all, and no output can say so but the other one.
    if (stream === process.stdout) process.stderr.write(`error: the output cannot be written: ${error.message}\n`);
    process.exit(UNWRITABLE);
  });
  // One for all writes: each would leave listeners behind on a stream whose reader is gone.
  let drained: Promise<void> | undefined;
  const whenDrained = () =>
    new Promise<void>((done) => {
      stream.once("drain", () => {
        drained = undefined;
        done();
      });
    });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    write(chunk) {
      if (stream.write(chunk)) return undefined;
      drained ??= whenDrained();
      return drained;
    },
  };
}

function input(stream: NodeJS.ReadStream): Input {
  return { isTTY: stream.isTTY === true, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() };
}
