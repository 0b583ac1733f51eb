import { json } from "node:stream/consumers";
import { Agent, type Dispatcher } from "undici";
import { CALLER_TOKEN_HEADER, tokenFile } from "../auth/index.ts";
import type { Clock } from "../controller/clock.ts";
import { type ErrorCode, isSlessError, messageOf, SlessError, slessErrorOf } from "../errors/index.ts";
import type { GarbageReport } from "../garbage/index.ts";
import type { ManifestPlace } from "../writes/index.ts";
import type { Leader } from "./leader.ts";
import { BEAT_MS, type LeaderQuestion, requestOf } from "./leader-protocol.ts";

export interface LeaderAddress {
  /**
   * Where the port of the process is that leads now, `http://10.1.2.3:9092`.
   *
   * @throws SlessError `controller_unreachable` while nobody leads, or nobody can tell who does
   */
  find(signal: AbortSignal): Promise<string>;
}

export interface LeaderClientOptions {
  readonly address: LeaderAddress;
  /** Path of a file with a service account's token that is meant for the controller; it is read anew when it changes. */
  readonly tokenFile: string;
  readonly clock: Clock;
}

/** The leader in another process. Everything may fail with `controller_unreachable`, too. */
export interface LeaderClient extends Leader {
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 3_000;
const FIND_TIMEOUT_MS = 5_000;
/** Shorter than the idle time of the port's server. */
const KEEP_ALIVE_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** A write that is refused does not wait longer to tell the line, too. */
const PLACE_TIMEOUT_MS = 1_000;
/** So long it counts where the leader was, or that it was nowhere, for what may do without it. */
const NEARBY_MS = 5_000;
const ANSWER_MAX_BYTES = 8 * 1024 * 1024;
/** More than a build's log may hold. */
const LOG_MAX_BYTES = 16 * 1024 * 1024;

/** Asks the process that leads, wherever it is now. */
export function leaderClient({ address, tokenFile: path, clock }: LeaderClientOptions): LeaderClient {
  const token = tokenFile(path, clock, (cause) => unreachable(cause));
  const timeouts = { connectTimeout: CONNECT_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS };
  const short = new Agent({
    ...timeouts,
    connections: 8,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: 4 * BEAT_MS,
    maxResponseSize: ANSWER_MAX_BYTES,
  });
  // Followed logs shall not stand in the way of anything else. A build may be silent for long.
  const logs = new Agent({
    ...timeouts,
    connections: 128,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: 0,
    maxResponseSize: LOG_MAX_BYTES,
  });
  // A leader that is slow to tell places may well tell logs.
  const nearby = { places: openNearby(address, clock), logs: openNearby(address, clock) };

  async function send(origin: string, question: LeaderQuestion, dispatcher: Agent, signal?: AbortSignal) {
    const headers = { [CALLER_TOKEN_HEADER]: await token() };
    const response = await dispatcher
      .request({ origin, ...requestOf(question), headers, signal: signal ?? null })
      .catch((error: unknown) => {
        throw toUnreachable(error);
      });
    if (response.statusCode !== 200) throw await refusalOf(response);
    return response.body;
  }

  return {
    async placeOf(object, { name: repository }) {
      const signal = AbortSignal.timeout(PLACE_TIMEOUT_MS);
      const origin = await orAborted(nearby.places.origin(), signal);
      try {
        const { place } = (await answerOf(
          await send(origin, { asks: "place", object, repository }, short, signal),
        )) as Told;
        return place ? knownPlace(place) : undefined;
      } catch (error) {
        await nearby.places.lost(origin);
        throw error;
      }
    },
    async *buildLogs(workload, { follow, signal }) {
      const origin = await nearby.logs.origin();
      try {
        yield* (await send(
          origin,
          { asks: "build-logs", workload, follow },
          logs,
          signal,
        )) as AsyncIterable<Uint8Array>;
      } catch (error) {
        if (signal.aborted) return;
        await nearby.logs.lost(origin);
        throw toUnreachable(error);
      }
    },
    async collectGarbage({ dryRun }) {
      const origin = await address.find(AbortSignal.timeout(FIND_TIMEOUT_MS));
      const { report, error } = (await answerOf(await send(origin, { asks: "garbage", dryRun }, short))) as Told;
      if (report) return report as GarbageReport;
      throw slessErrorOf(error) ?? unreachable("it told an error that is not known here");
    },
    async close() {
      await Promise.all([short.destroy(), logs.destroy()]);
    },
  };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(unreachable("it was not found in time"))),
  );
  return Promise.race([work, aborted]);
}

interface Told {
  readonly place?: unknown;
  readonly report?: unknown;
  readonly error?: unknown;
}

/** What it may have against us is no business of who asked us. */
const OUR_FAULTS: readonly ErrorCode[] = ["unauthenticated", "forbidden", "cluster_unavailable", "not_found"];

async function refusalOf({ body, statusCode }: Dispatcher.ResponseData): Promise<SlessError> {
  const { error } = (await answerOf(body)) as Told;
  const told = slessErrorOf(error);
  if (!told) return unreachable(`it answered ${statusCode}`);
  return OUR_FAULTS.includes(told.code) ? unreachable(told.happened) : told;
}

async function answerOf(body: Dispatcher.ResponseData["body"]): Promise<object> {
  const answer = await json(body).catch((error: unknown) => {
    throw toUnreachable(error);
  });
  return answer && typeof answer === "object" ? answer : {};
}

function knownPlace(place: unknown): ManifestPlace | undefined {
  const { file, line } = place as { readonly file?: unknown; readonly line?: unknown };
  if (typeof file !== "string") return undefined;
  return Number.isSafeInteger(line) && (line as number) > 0 ? { file, line: line as number } : { file };
}

function unreachable(cause: string): SlessError {
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

/** Where the leader is, for questions that come often and may stay without an answer. */
function openNearby(address: LeaderAddress, clock: Clock) {
  let known: { readonly origin: Promise<string>; readonly until: number } | undefined;
  const keep = (origin: Promise<string>) => {
    origin.catch(() => undefined);
    known = { origin, until: clock.monotonicMs() + NEARBY_MS };
    return origin;
  };
  return {
    origin(): Promise<string> {
      if (known && known.until > clock.monotonicMs()) return known.origin;
      return keep(address.find(AbortSignal.timeout(FIND_TIMEOUT_MS)));
    },
    /** It is not there, or does not lead any more: nobody waits for it again for a while. */
    async lost(origin: string): Promise<void> {
      if ((await known?.origin.catch(() => undefined)) === origin)
        keep(Promise.reject(unreachable("it did not answer a moment ago")));
    },
  };
}
