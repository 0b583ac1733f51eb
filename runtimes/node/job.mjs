/** A single run of the handler: the event from a file, the result into a file. */
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { contextOf } from "./context.mjs";
import { parseJson } from "./event.mjs";
import { oneLine, writeError } from "./log.mjs";
import { chunkBytes, toAnswer } from "./result.mjs";
import { EXIT_STUCK, refuse, writeAll } from "./settings.mjs";
import { now } from "./watch.mjs";

/** Runs once and ends the process: 0 done, 1 failed, 75 timed out. */
export async function runJob(settings, handler, watch) {
  const requestId = settings.requestId ?? randomUUID().replaceAll("-", "");
  const abort = new AbortController();
  const expires = settings.timeoutSec > 0 ? now() + settings.timeoutSec * 1000 : undefined;
  const timedOut = () => writeAll(`sless: timed out after ${settings.timeoutSec} s\n`);
  watch.onBlocked(timedOut);
  watch.begin("job", expires);
  if (expires !== undefined)
    setTimeout(() => {
      timedOut();
      process.exit(EXIT_STUCK);
    }, settings.timeoutSec * 1000);
  process.on("uncaughtException", (error) => fail(requestId, error));
  // Nothing else may be left that keeps the process alive while a promise of the handler is open.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    const { body, event } = readEvent(settings.eventFile);
    const headers = body.length > 0 ? { "content-type": "application/json" } : {};
    const request = { method: "POST", path: "/", queryString: "", query: {}, headers, body };
    const context = contextOf({ requestId, expires, signal: abort.signal, trigger: "job" }, settings, request);
    const answer = toAnswer(await handler(event, context));
    await writeResult(settings, answer);
    if (answer.status >= 400) {
      writeAll(`sless: the handler answered with status ${answer.status}\n`);
      process.exit(1);
    }
  } catch (error) {
    fail(requestId, error);
  }
  clearInterval(alive);
  process.exit(0);
}

function fail(requestId, error) {
  writeError(requestId, "the handler failed", error);
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  writeAll(`sless: the handler failed: ${oneLine(text)}\n`);
  process.exit(1);
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

async function writeResult({ resultFile, resultMax }, answer) {
  const result = resultMax === undefined ? wholeResult(resultFile) : cutResult(resultFile, resultMax);
  if (answer.chunks)
    for (let item = await answer.chunks.next(); !item.done; item = await answer.chunks.next())
      result.write(chunkBytes(item.value));
  else result.write(answer.body);
  result.end();
}

function wholeResult(path) {
  const file = path === undefined ? undefined : openSync(`${path}.part`, "w");
  return {
    write(bytes) {
      if (file !== undefined) writeFully(file, bytes);
    },
    end() {
      if (file === undefined) return;
      closeSync(file);
      renameSync(`${path}.part`, path);
    },
  };
}

/** For a file that holds so much and cannot be replaced. A longer result says that it was cut, and stands whole in the log. */
function cutResult(path, max) {
  let head = Buffer.alloc(0);
  let total = 0;
  return {
    write(bytes) {
      total += bytes.length;
      if (total <= max) {
        head = Buffer.concat([head, bytes]);
        return;
      }
      if (total - bytes.length <= max) writeAll(head);
      writeAll(bytes);
      if (head.length <= max) head = Buffer.concat([head, bytes]).subarray(0, max + 1);
    },
    end() {
      if (total > max) writeAll("\n");
      const file = openSync(path ?? "/dev/null", "w");
      writeFully(file, total > max ? cut(head, max, total) : head);
      closeSync(file);
    },
  };
}

/** No character is cut in two. */
function cut(bytes, max, total) {
  const mark = Buffer.from(`… (truncated, ${total} bytes in all)`);
  let end = Math.max(0, max - mark.length);
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
  return Buffer.concat([bytes.subarray(0, end), mark]);
}

function writeFully(file, bytes) {
  for (let rest = bytes; rest.length > 0; ) rest = rest.subarray(writeSync(file, rest));
}
