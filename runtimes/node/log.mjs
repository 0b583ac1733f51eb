/** Lines of the log: the level, the request id and the message on one line; stacks follow as they are. */
import { format } from "node:util";
import { writeAll } from "./settings.mjs";

export function oneLine(text) {
  return text.replaceAll("\r", "\\r").replaceAll("\n", "\\n");
}

/** One line on stderr, then the error's stack if there is one. */
export function writeError(requestId, message, ...errors) {
  const stacks = errors.map((error) => `${stackOf(error)}\n`);
  writeAll(`ERROR [${requestId ?? "-"}] ${oneLine(message)}\n${stacks.join("")}`);
}

/** The stack of anything thrown, with the stacks of its causes. */
function stackOf(error) {
  if (error instanceof Error)
    return format("%o", error).includes("[cause]") ? format(error) : (error.stack ?? String(error));
  return `thrown: ${format(error)}`;
}

/** The logger of a call; arguments as in `console.log`. */
export function loggerFor(requestId) {
  const writer =
    (level) =>
    (...values) =>
      void process.stdout.write(`${level} [${requestId}] ${oneLine(format(...values))}\n`);
  return { debug: writer("DEBUG"), info: writer("INFO"), warn: writer("WARN"), error: writer("ERROR") };
}
