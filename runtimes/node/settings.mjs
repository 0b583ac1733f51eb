/** The environment of a replica, read once. */
import { writeSync } from "node:fs";
import { resolve } from "node:path";
import { endProcess } from "./end.mjs";

const DEFAULT_MAX_BODY = 100 * 1024 * 1024;
export const EXIT_UNLOADABLE = 65;
export const EXIT_STUCK = 75;
export const EXIT_TERMINATED = 143;

export function readSettings(env) {
  return {
    source: resolve(env.SLESS_SOURCE || process.cwd()),
    entrypoint: env.SLESS_ENTRYPOINT || "handler.handle",
    function: env.SLESS_FUNCTION ?? "",
    namespace: env.SLESS_NAMESPACE ?? "",
    host: env.SLESS_HOST || undefined,
    port: number(env, "PORT", 8080),
    timeoutSec: number(env, "SLESS_TIMEOUT_SEC", 0),
    drainSec: number(env, "SLESS_DRAIN_SEC", 30),
    maxBody: number(env, "SLESS_MAX_BODY", DEFAULT_MAX_BODY),
    notifyFd: number(env, "SLESS_NOTIFY_FD", undefined),
    parentFd: number(env, "SLESS_PARENT_FD", undefined),
    job: env.SLESS_JOB === "1",
    eventFile: env.SLESS_EVENT_FILE || undefined,
    resultFile: env.SLESS_RESULT_FILE || undefined,
    resultMax: number(env, "SLESS_RESULT_MAX", undefined),
    resultCopy: number(env, "SLESS_RESULT_COPY", 0),
    requestId: env.SLESS_REQUEST_ID || undefined,
  };
}

function number(env, name, otherwise) {
  const text = env[name] ?? "";
  if (text === "") return otherwise;
  if (!/^\d+$/.test(text)) refuse(`${name} is "${text}", which is no number; correct it where the server is started`);
  return Number(text);
}

/** Ends the process before it serves: one line for people, exit code 65. */
export function refuse(reason) {
  writeAll(`sless: ${reason.replaceAll(/\s+/g, " ")}\n`);
  endProcess(EXIT_UNLOADABLE);
}

/** Writes text or bytes to stderr at once, also right before the process ends. */
export function writeAll(text) {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(2, bytes));
    } catch (error) {
      if (error.code !== "EAGAIN") return;
    }
  }
}
