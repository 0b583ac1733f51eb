/** What a handler learns about its call beside the event. */
import { parseForm } from "./event.mjs";
import { loggerFor } from "./log.mjs";
import { now } from "./watch.mjs";

/** The second argument of a handler. `deadline` is a Date, or undefined without a limit; `remainingMs()` then is Infinity. */
export function contextOf({ requestId, expires, signal, trigger }, settings, request) {
  return {
    requestId,
    function: settings.function,
    namespace: settings.namespace,
    trigger: trigger ?? request.headers["x-sless-trigger"] ?? "http",
    deadline: expires === undefined ? undefined : new Date(expires),
    remainingMs: () => (expires === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Math.floor(expires - now()))),
    /** Aborts at the deadline and when the client goes away. */
    signal,
    logger: loggerFor(requestId),
    request: { ...request, query: parseForm(request.queryString) },
  };
}
