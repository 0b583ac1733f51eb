/** One call in flight: its deadline, and who answers it. */
import { writeError } from "./log.mjs";
import { now } from "./watch.mjs";

export const BLOCKED_ERROR =
  "The replica was replaced because another call blocked it beyond its time limit; try again.";

let lastId = 0;

/** Begins to watch a request; `close()` ends that. `signal` aborts at the deadline and when the client goes away. */
export function beginCall({ req, res, requestId, timeoutMs, watch, onEnd }) {
  const id = ++lastId;
  const expires = timeoutMs === undefined ? undefined : now() + timeoutMs;
  /** Made when a handler asks for the signal: most do not. */
  let abort;
  let ending;
  let timer;

  const call = {
    req,
    res,
    requestId,
    expires,
    get signal() {
      if (!abort) {
        abort = new AbortController();
        if (ending) abort.abort(ending);
      }
      return abort.signal;
    },
    get isOver() {
      return ending !== undefined;
    },
    expired: false,
    /** True for the first who asks, and only while the client can still be answered. */
    claimed: false,
    claim() {
      if (call.claimed || res.destroyed) return false;
      call.claimed = true;
      return true;
    },
    /** A whole answer of the runtime itself. */
    fail(status, reason, error, { close = false, end = () => res.end() } = {}) {
      if (!call.claim()) return;
      const body = Buffer.from(JSON.stringify({ error, component: "runtime", reason, requestId }));
      if (close) res.shouldKeepAlive = false;
      res.writeHead(status, {
        "content-type": "application/json",
        "content-length": body.length,
        "x-request-id": requestId,
      });
      if (req.method !== "HEAD") res.write(body);
      end();
    },
    timeOut() {
      call.expired = true;
      const seconds = `${timeoutMs / 1000} s`;
      if (call.claimed) {
        writeError(requestId, `the answer was cut off after ${seconds} (function_timeout)`);
        reset(res);
      } else {
        writeError(requestId, `the handler did not answer within ${seconds} (function_timeout)`);
        const error = `The handler did not answer within ${seconds}; make it faster, or raise spec.timeoutSec.`;
        call.fail(504, "function_timeout", error, { close: true });
      }
      close();
      endSignal(`the call's deadline of ${seconds} is over`);
    },
    close,
  };

  function close() {
    clearTimeout(timer);
    watch.end(id);
    res.off("close", left);
    onEnd(call);
  }
  function endSignal(why) {
    ending = new Error(why);
    abort?.abort(ending);
  }
  function left() {
    if (res.writableFinished) return;
    close();
    endSignal("the client went away");
  }

  watch.begin(id, expires);
  if (timeoutMs !== undefined) timer = setTimeout(call.timeOut, Math.max(1, timeoutMs));
  res.once("close", left);
  return call;
}

/** Breaks the connection so that nobody takes what was sent for a whole answer. */
export function reset(res) {
  if (res.socket?.resetAndDestroy) res.socket.resetAndDestroy();
  else res.destroy();
}
