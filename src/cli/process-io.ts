import type { Input, Io, Output } from "./io.ts";

/** Exit code of a process that a second signal ended before it could stop by itself. */
const IMPATIENT = 130;
/** Exit code of a process whose output cannot be written. */
const UNWRITABLE = 2;
/** So long what still runs holds up the end of a process. */
const LINGER_MS = 200;

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

/**
 * Ends the process once everything that was written is on its way: by itself where nothing is left to do, and soon where
 * something still runs (a late child, a connection). For `process.exit` waits for V8's threads, and one of those may
 * wait for a collection that the main thread does not make any more: it never ends
 * (https://github.com/nodejs/node/issues/54918).
 */
export async function endProcess(code: number): Promise<void> {
  const written = [process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write("", done)));
  await Promise.all(written);
  process.exitCode = code;
  setTimeout(() => process.exit(code), LINGER_MS).unref();
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
