/** A single run of the handler: the event from a file, the result into a file. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { contextOf } from "./context.mjs";
import { endDone, endProcess, whenPrinted } from "./end.mjs";
import { parseJson } from "./event.mjs";
import { oneLine, writeError } from "./log.mjs";
import { chunkBytes, toAnswer } from "./result.mjs";
import { openResult } from "./result-file.mjs";
import { EXIT_STUCK, refuse, writeAll } from "./settings.mjs";
import { now } from "./watch.mjs";

/** Runs once and ends the process: 0 done, 1 failed, 75 timed out. */
export async function runJob(settings, handler, watch) {
  const requestId = settings.requestId ?? randomUUID().replaceAll("-", "");
  const expires = settings.timeoutSec > 0 ? now() + settings.timeoutSec * 1000 : undefined;
  const end = beginWatch(settings, watch, expires);
  const fail = (error) => {
    writeError(requestId, "the handler failed", error);
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    end(1, `the handler failed: ${oneLine(text)}`);
  };
  process.on("uncaughtException", fail);
  try {
    const { body, event } = readEvent(settings.eventFile);
    const headers = body.length > 0 ? { "content-type": "application/json" } : {};
    const request = { method: "POST", path: "/", queryString: "", query: {}, headers, body };
    const { signal } = new AbortController();
    const context = contextOf({ requestId, expires, signal, trigger: "job" }, settings, request);
    const answer = toAnswer(await handler(event, context));
    await writeResult(settings, answer);
    if (answer.status >= 400) end(1, `the handler answered with status ${answer.status}`);
    else end(0);
  } catch (error) {
    fail(error);
  }
}

/** Ends the job when its time is over. What is returned ends it before; its first call counts. */
function beginWatch({ timeoutSec }, watch, expires) {
  const timedOut = () => writeAll(`sless: timed out after ${timeoutSec} s\n`);
  const late = () => {
    timedOut();
    endProcess(EXIT_STUCK);
  };
  watch.onBlocked(timedOut);
  watch.begin("job", expires);
  const limit = expires === undefined ? undefined : setTimeout(late, timeoutSec * 1000);
  // Nothing else may be left that keeps the process alive while a promise of the handler is open.
  const alive = setInterval(() => {}, 2 ** 30);
  let isOver = false;
  return (code, why) => {
    if (isOver) return;
    isOver = true;
    if (why !== undefined) writeAll(`sless: ${why}\n`);
    watch.end("job");
    clearTimeout(limit);
    whenPrinted(() => {
      clearInterval(alive);
      endDone(code);
    });
  };
}

function readEvent(path) {
  const body = path !== undefined && existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (body.toString("latin1").trim() === "") return { body: Buffer.alloc(0), event: {} };
  try {
    return { body, event: parseJson(body) };
  } catch (error) {
    return refuse(`the event is not valid JSON: ${error.message}; correct eventJSON`);
  }
}

async function writeResult(settings, answer) {
  const result = openResult(settings);
  if (answer.chunks)
    for (let item = await answer.chunks.next(); !item.done; item = await answer.chunks.next())
      result.write(chunkBytes(item.value));
  else result.write(answer.body);
  result.end();
}
