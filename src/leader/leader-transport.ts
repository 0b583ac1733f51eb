import { json } from "node:stream/consumers";
import { Agent, type Dispatcher } from "undici";
import { CALLER_TOKEN_HEADER, tokenFile } from "../auth/index.ts";
import type { Clock } from "../controller/clock.ts";
import { type ErrorCode, isSlessError, messageOf, SlessError, slessErrorOf } from "../errors/index.ts";
import { BEAT_MS, type LeaderQuestion, requestOf } from "./leader-protocol.ts";

/** Requests to the ports of leaders. Everything fails with SlessError `controller_unreachable`, but what a leader told. */
export interface LeaderTransport {
  /** The JSON of an answer. */
  ask(origin: string, question: LeaderQuestion, signal?: AbortSignal): Promise<Told>;
  /** The bytes of an answer as they come; ends without an error when the signal aborts. */
  stream(origin: string, question: LeaderQuestion, signal: AbortSignal): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Nothing of it has been looked at. */
export interface Told {
  readonly place?: unknown;
  readonly report?: unknown;
  readonly error?: unknown;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** Shorter than the idle time of the port's server. */
const KEEP_ALIVE_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;
const ANSWER_MAX_BYTES = 8 * 1024 * 1024;
/** More than a build's log may hold. */
const LOG_MAX_BYTES = 16 * 1024 * 1024;

/** @param path of the file with the token that is shown; it is read anew when it changes */
export function leaderTransport(path: string, clock: Clock): LeaderTransport {
  const token = tokenFile(path, clock, unreachable);
  const agents = openAgents();

  async function send(origin: string, question: LeaderQuestion, dispatcher: Agent, signal?: AbortSignal) {
    const headers = { [CALLER_TOKEN_HEADER]: await token() };
    const response = await dispatcher.request({ origin, ...requestOf(question), headers, signal: signal ?? null });
    if (response.statusCode !== 200) throw await refusalOf(response);
    return response.body;
  }
  return {
    async ask(origin, question, signal) {
      try {
        return await answerOf(await send(origin, question, agents.answers, signal));
      } catch (error) {
        throw toUnreachable(error);
      }
    },
    async *stream(origin, question, signal) {
      try {
        yield* (await send(origin, question, agents.streams, signal)) as AsyncIterable<Uint8Array>;
      } catch (error) {
        if (!signal.aborted) throw toUnreachable(error);
      }
    },
    async close() {
      await Promise.all([agents.answers.destroy(), agents.streams.destroy()]);
    },
  };
}

/** Logs that are followed shall not stand in the way of anything else. */
function openAgents() {
  const timeouts = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
  };
  return {
    answers: new Agent({ ...timeouts, connections: 8, bodyTimeout: 4 * BEAT_MS, maxResponseSize: ANSWER_MAX_BYTES }),
    // A build may be silent for long.
    streams: new Agent({ ...timeouts, connections: 128, bodyTimeout: 0, maxResponseSize: LOG_MAX_BYTES }),
  };
}

/** What it may have against us is no business of who asked us. */
const OUR_FAULTS: readonly ErrorCode[] = ["unauthenticated", "forbidden", "cluster_unavailable", "not_found"];

async function refusalOf({ body, statusCode }: Dispatcher.ResponseData): Promise<SlessError> {
  const told = slessErrorOf((await answerOf(body)).error);
  if (!told) return unreachable(`it answered ${statusCode}`);
  return OUR_FAULTS.includes(told.code) ? unreachable(told.happened) : told;
}

async function answerOf(body: Dispatcher.ResponseData["body"]): Promise<Told> {
  const answer = await json(body);
  return answer && typeof answer === "object" ? answer : {};
}

export function unreachable(cause: string): SlessError {
  return new SlessError("controller_unreachable", { cause });
}

function toUnreachable(error: unknown): SlessError {
  if (isSlessError(error)) return error;
  return new SlessError("controller_unreachable", { cause: causeOf(error) }, { cause: error });
}

function causeOf(error: unknown): string {
  const { code } = error as { readonly code?: string };
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return "its answer is larger than it may be";
  if (error instanceof SyntaxError) return "its answer broke off, or is no JSON";
  return messageOf(error) || (code ?? "no answer");
}
