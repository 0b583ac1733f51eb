/**
 * The end of the process. `process.exit` waits for V8's threads, and one of those may wait for a collection that the main
 * thread does not make any more: it never ends (https://github.com/nodejs/node/issues/54918).
 */
import { accessSync, constants } from "node:fs";

const SHELL = "/bin/sh";
const LINGER_MS = 50;
let isEnding = false;

/** Ends the process at once with this code, whatever a handler has left open. Listeners of `exit` are called before. */
export function endProcess(code) {
  if (!isEnding && process.execve) {
    isEnding = true;
    try {
      process.emit("exit", code);
    } catch {
      // What is done is done.
    }
    becomeShell(code);
  }
  process.exit(code);
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
    // Node aborts when the program cannot be run.
    accessSync(SHELL, constants.X_OK);
    process.execve?.(SHELL, [SHELL, "-c", `exit ${code}`], {});
  } catch {
    // no such program, or a standard stream that somebody closed
  }
}
