import type { Clock } from "../controller/clock.ts";
import { slessErrorOf } from "../errors/index.ts";
import type { GarbageReport } from "../garbage/index.ts";
import type { ManifestPlace } from "../writes/index.ts";
import type { Leader } from "./leader.ts";
import { leaderTransport, unreachable } from "./leader-transport.ts";

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

const FIND_TIMEOUT_MS = 5_000;
/** A write that is refused does not wait longer to tell the line, too. */
const PLACE_TIMEOUT_MS = 1_000;
/** So long it counts where the leader was, or that it was nowhere, for what may do without it. */
const NEARBY_MS = 5_000;

/** Asks the process that leads, wherever it is now. */
export function leaderClient({ address, tokenFile, clock }: LeaderClientOptions): LeaderClient {
  const transport = leaderTransport(tokenFile, clock);
  // A leader that is slow to tell places may well tell logs.
  const nearby = { places: openNearby(address, clock), logs: openNearby(address, clock) };
  return {
    async placeOf(object, { name: repository }) {
      const signal = AbortSignal.timeout(PLACE_TIMEOUT_MS);
      const origin = await orAborted(nearby.places.origin(), signal);
      try {
        const { place } = await transport.ask(origin, { asks: "place", object, repository }, signal);
        return place ? knownPlace(place) : undefined;
      } catch (error) {
        await nearby.places.lost(origin);
        throw error;
      }
    },
    async *buildLogs(workload, { follow, signal }) {
      const origin = await nearby.logs.origin();
      try {
        yield* transport.stream(origin, { asks: "build-logs", workload, follow }, signal);
      } catch (error) {
        await nearby.logs.lost(origin);
        throw error;
      }
    },
    async collectGarbage({ dryRun }) {
      const origin = await address.find(AbortSignal.timeout(FIND_TIMEOUT_MS));
      const { report, error } = await transport.ask(origin, { asks: "garbage", dryRun });
      if (report) return report as GarbageReport;
      throw slessErrorOf(error) ?? unreachable("it told an error that is not known here");
    },
    close: transport.close,
  };
}

function knownPlace(place: unknown): ManifestPlace | undefined {
  const { file, line } = place as { readonly file?: unknown; readonly line?: unknown };
  if (typeof file !== "string") return undefined;
  return Number.isSafeInteger(line) && (line as number) > 0 ? { file, line: line as number } : { file };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(unreachable("it was not found in time"))),
  );
  return Promise.race([work, aborted]);
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
