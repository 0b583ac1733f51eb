import { isDeepStrictEqual } from "node:util";
import type { TimerClock } from "./clock.ts";
import type { HeldLease, LeaseRecord, LeaseStore } from "./lease-store.ts";

/** In milliseconds; each is longer than the next. */
export interface LeaseTimes {
  /** A lease that was not seen to change for so long is taken over. Default 15,000. */
  readonly leaseMs: number;
  /** A leader that could not renew for so long stops. Default 10,000. */
  readonly renewDeadlineMs: number;
  /** Between two tries. Default 2,000. */
  readonly retryMs: number;
}

const DEFAULT_TIMES: LeaseTimes = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };
/** One request that hangs must not use up the deadline. */
const TRY_SHARE = 0.4;

export interface CandidacyOptions {
  readonly store: LeaseStore;
  readonly identity: string;
  readonly clock: TimerClock;
  readonly times?: Partial<LeaseTimes>;
}

/** What one candidate knows of the lease, and its moves. What the store throws is thrown. */
export interface Candidacy {
  readonly times: LeaseTimes;
  /** As seen last; undefined when nobody has it. */
  holder(): string | undefined;
  /** Takes the lease if it is free or expired. */
  claim(signal: AbortSignal): Promise<"held" | "waiting">;
  /** Of a holder. `unknown`: somebody wrote meanwhile, and it is not known who. */
  renew(signal: AbortSignal): Promise<"renewed" | "lost" | "unknown">;
  /** Lets go of the lease if it is still ours. */
  release(): Promise<void>;
}

/** @throws RangeError when a leader would stop later than others take over */
export function createCandidacy({ store, identity, clock, times: given }: CandidacyOptions): Candidacy {
  const times = { ...DEFAULT_TIMES, ...given };
  if (!(times.leaseMs > times.renewDeadlineMs && times.renewDeadlineMs > times.retryMs && times.retryMs > 0))
    throw new RangeError("a lease must outlive its renew deadline, and that a retry");
  /** With when its record was first seen so, of the monotonic clock. */
  let seen: (HeldLease & { readonly sinceMs: number }) | undefined;

  const see = (lease: HeldLease | undefined) => {
    const isSame = lease && seen && isDeepStrictEqual(lease.record, seen.record);
    seen = lease && { ...lease, sinceMs: isSame ? seen!.sinceMs : clock.monotonicMs() };
  };
  const isFree = () => {
    if (!seen || seen.record.holder === "" || seen.record.holder === identity) return true;
    const lastsMs = Math.max(times.leaseMs, seen.record.durationSec * 1_000);
    return clock.monotonicMs() - seen.sinceMs >= lastsMs;
  };
  const write = async (record: LeaseRecord, signal: AbortSignal) => {
    const version = await store.write(record, seen?.version, signal);
    if (version !== undefined) see({ record, version });
    return version !== undefined;
  };
  const within = async <T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const attempt = new AbortController();
    const stop = () => attempt.abort(signal?.reason);
    const late = () => attempt.abort(new Error("there was no answer in time"));
    const cancel = clock.setTimer(times.renewDeadlineMs * TRY_SHARE, late);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    try {
      // A store that does not heed the signal must not hold us either.
      return await Promise.race([work(attempt.signal), rejectionOf(attempt.signal)]);
    } finally {
      cancel();
      signal?.removeEventListener("abort", stop);
    }
  };
  const renewNow = async (signal: AbortSignal) => {
    const record = { ...seen!.record, renewTime: clock.now().toISOString(), durationSec: durationSec(times) };
    return write(record, signal);
  };

  return {
    times,
    holder: () => (seen && seen.record.holder !== "" ? seen.record.holder : undefined),
    claim: (signal) =>
      within(signal, async (both) => {
        see(await store.read(both));
        if (!isFree()) return "waiting";
        return (await write(claimed(seen?.record, { identity, now: clock.now(), times }), both)) ? "held" : "waiting";
      }),
    renew: (signal) =>
      within(signal, async (both) => {
        if (await renewNow(both)) return "renewed";
        see(await store.read(both));
        if (seen?.record.holder !== identity) return "lost";
        return (await renewNow(both)) ? "renewed" : "unknown";
      }),
    release: () =>
      within(undefined, async (signal) => {
        if (seen?.record.holder !== identity) return;
        const renewTime = clock.now().toISOString();
        await write({ ...seen.record, holder: "", durationSec: 1, renewTime }, signal);
      }),
  };
}

function claimed(
  before: LeaseRecord | undefined,
  { identity, now, times }: { identity: string; now: Date; times: LeaseTimes },
): LeaseRecord {
  const time = now.toISOString();
  const isOurs = before?.holder === identity;
  return {
    holder: identity,
    durationSec: durationSec(times),
    acquireTime: isOurs ? before.acquireTime : time,
    renewTime: time,
    transitions: (before?.transitions ?? 0) + (before && !isOurs ? 1 : 0),
  };
}

function durationSec({ leaseMs }: LeaseTimes): number {
  return Math.max(1, Math.ceil(leaseMs / 1_000));
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
