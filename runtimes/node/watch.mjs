/** The main thread's side of the watch: tells a second thread the soonest deadline of the calls in flight. */
import { closeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { becomeShell } from "./end.mjs";
import { EXIT_STUCK } from "./settings.mjs";

/**
 * `begin(id, expires)` and `end(id)` frame a call (`expires` by the clock of `now`; undefined = no limit). When a
 * deadline is over for a second and this thread did not even end the call, it is blocked: the watch writes where it
 * stands, lets `onBlocked` (which must not wait for anything) say the last words, and ends the process with code 75.
 */
export function startWatch(parentFd) {
  // times: [0] soonest deadline, 0 = none; [1] when the worker looks next, 0 = not at all
  const times = new Float64Array(new SharedArrayBuffer(16));
  const fence = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL("./watch-worker.mjs", import.meta.url), {
    workerData: { times, fence, parentFd },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    execArgv: [],
    env: {},
  });
  worker.unref();
  const deadlines = new Map();

  function publish() {
    let soonest = 0;
    for (const expires of deadlines.values()) if (soonest === 0 || expires < soonest) soonest = expires;
    times[0] = soonest;
    Atomics.add(fence, 0, 1);
    if (soonest !== 0 && (times[1] === 0 || soonest < times[1])) {
      times[1] = soonest;
      worker.postMessage("look");
    }
  }

  return {
    begin(id, expires) {
      if (expires === undefined) return;
      deadlines.set(id, expires);
      publish();
    },
    end(id) {
      if (deadlines.delete(id)) publish();
    },
    onBlocked(lastWords) {
      // The worker's debugger calls it in the middle of what blocks.
      globalThis[Symbol.for("sless.blocked")] = () => {
        lastWords();
        becomeShell(EXIT_STUCK);
        // Node would print a line about the debugger.
        closeSync(2);
        process.reallyExit(EXIT_STUCK);
      };
    },
  };
}

/** Milliseconds on a clock that both threads share and nobody sets back. */
export function now() {
  return performance.timeOrigin + performance.now();
}
