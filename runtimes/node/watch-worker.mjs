/**
 * A thread of its own, which goes on when the main thread is blocked: it ends the process when the parent is gone, and
 * when the main thread lets a deadline pass without a sign of life.
 */
import { writeSync } from "node:fs";
import { Session } from "node:inspector";
import { Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const GRACE_MS = 1000;
const PAUSE_WAIT_MS = 1000;
const TIMER_MAX_MS = 2 ** 31 - 1;
const { times, fence, parentFd } = workerData;
let timer;

if (parentFd !== undefined) watchParent(parentFd);
parentPort.on("message", look);

/** The other end of the pipe is held by the parent alone: its end means that the parent is gone. */
function watchParent(fd) {
  const pipe = new Socket({ fd, readable: true, writable: false });
  pipe.on("error", killAll).on("close", killAll).resume();
}

function killAll() {
  try {
    // What a handler started goes too, when this process leads a group of its own.
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.kill(process.pid, "SIGKILL");
  }
}

function look() {
  clearTimeout(timer);
  const soonest = times[0];
  times[1] = soonest;
  Atomics.add(fence, 0, 1);
  if (soonest === 0) {
    // The main thread may have begun a call between these lines, and seen that somebody looks already.
    if (times[0] !== 0) look();
    return;
  }
  const left = soonest + GRACE_MS - (performance.timeOrigin + performance.now());
  if (left <= 0) endBlocked();
  else timer = setTimeout(look, Math.min(left, TIMER_MAX_MS));
}

/** Pauses the main thread with the debugger, which works in the middle of a loop, and makes it end from there. */
function endBlocked() {
  write("ERROR [-] the handler blocks the event loop beyond its deadline: the replica is replaced; it stands at\n");
  setTimeout(killByForce, PAUSE_WAIT_MS);
  const session = new Session();
  const urls = new Map();
  session.connectToMainThread();
  session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
  session.on("Debugger.paused", ({ params }) => {
    write(params.callFrames.map((frame) => frameLine(frame, urls)).join(""));
    session.post("Debugger.evaluateOnCallFrame", {
      callFrameId: params.callFrames[0].callFrameId,
      expression: 'globalThis[Symbol.for("sless.blocked")]()',
    });
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
}

/** A main thread inside a native call cannot be paused. */
function killByForce() {
  write("    a native call that cannot be interrupted\n");
  process.kill(process.pid, "SIGKILL");
}

function frameLine({ functionName, location }, urls) {
  const place = `${urls.get(location.scriptId) ?? "?"}:${location.lineNumber + 1}:${location.columnNumber + 1}`;
  return `    at ${functionName || "<anonymous>"} (${place})\n`;
}

/** The streams of a worker go through the main thread, which is blocked. */
function write(text) {
  try {
    writeSync(2, text);
  } catch {
    // nobody reads the log
  }
}
