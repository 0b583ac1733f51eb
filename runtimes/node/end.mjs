/**
 * The end of the process. `process.exit` waits for V8's threads, and one of those may wait for a collection that the main
 * thread does not make any more: it never ends (https://github.com/nodejs/node/issues/54918).
 */
import { accessSync, constants } from "node:fs";

const SHELL = "/bin/sh";
const LINGER_MS = 50;
/** So long a reader of the output that stands still holds up the end. */
const UNREAD_MS = 2000;
const LOOK_MS = 5;
let isEnding = false;

/**
 * Ends the process at once with this code, whatever a handler has left open. Listeners of `exit` are called before, and
 * may set another one, as Node has it.
 */
export function endProcess(code) {
  if (!isEnding && canBecomeShell()) {
    isEnding = true;
    process.exitCode = code;
    try {
      process.emit("exit", code);
    } catch {
      // What is done is done.
    }
    becomeShell(process.exitCode & 255);
  }
  process.exit(isEnding ? process.exitCode : code);
}

/** Calls back once what was printed has left the process, which a full pipe holds up: at once when it has. */
export function whenPrinted(done) {
  if (isPrinted()) return done();
  const until = performance.now() + UNREAD_MS;
  const looking = setInterval(() => {
    if (!isPrinted() && performance.now() < until) return;
    clearInterval(looking);
    done();
  }, LOOK_MS);
}

function isPrinted() {
  // A handler may have put anything in their place.
  return [process.stdout, process.stderr].every((stream) => !(stream?.writableLength > 0) || stream.destroyed);
}

/**
 * As `endProcess`. A Node that can only exit (before 22.15) ends by itself where nothing is left open, which waits for
 * nobody, and else is told to in a moment: what calls this returns, and what runs until then counts for nothing.
 */
export function endDone(code) {
  if (process.execve) endProcess(code);
  process.exitCode = code;
  setTimeout(() => process.exit(code), LINGER_MS).unref();
}

/** Puts a program that ends with this code in the process's place, which waits for no thread; returns where Node cannot. */
export function becomeShell(code) {
  try {
    if (canBecomeShell()) process.execve(SHELL, [SHELL, "-c", `exit ${code}`], {});
  } catch {
    // a standard stream that somebody closed
  }
}

/** Node aborts when the program cannot be run. */
function canBecomeShell() {
  try {
    accessSync(SHELL, constants.X_OK);
    return process.execve !== undefined;
  } catch {
    return false;
  }
}
