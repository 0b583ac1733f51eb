/** What a handler learns about its call beside the event. */
import { loggerFor } from "./log.mjs";
import { now } from "./watch.mjs";

/** The second argument of a handler. `deadline` is a Date, or undefined without a limit; `remainingMs()` then is Infinity. */
export function contextOf(call, settings, request) {
  const { requestId, expires } = call;
  return {
    requestId,
    function: settings.function,
    namespace: settings.namespace,
    trigger: call.trigger ?? request.headers["x-sless-trigger"] ?? "http",
    deadline: expires === undefined ? undefined : new Date(expires),
    remainingMs: () => (expires === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Math.floor(expires - now()))),
    /** Aborts at the deadline and when the client goes away. */
    get signal() {
      return call.signal;
    },
    logger: loggerFor(requestId),
    request,
  };
}
