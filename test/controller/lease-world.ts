import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";
import {
  type LeaderElection,
  type LeaderElectionOptions,
  type LeaseRecord,
  type LeaseStore,
  startLeaderElection,
} from "../../src/controller/index.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";

/** A lease in memory, as the API server keeps it. */
export function memoryLease() {
  let held: { record: LeaseRecord; version: number } | undefined;
  const writes: LeaseRecord[] = [];
  const store: LeaseStore = {
    read: async () => held && { record: held.record, version: String(held.version) },
    async write(record, version) {
      if (version !== (held && String(held.version))) return undefined;
      held = { record, version: (held?.version ?? 0) + 1 };
      writes.push(record);
      return String(held.version);
    },
  };
  const drop = () => {
    held = undefined;
  };
  return { store, writes, holder: () => held?.record.holder, drop };
}

export interface Candidate {
  readonly election: LeaderElection;
  /** `start`, `abort`, `stopped`, `lost`. */
  readonly story: string[];
  /** From now on its requests fail as these say; undefined: they reach the store. */
  fault: ((call: "read" | "write", signal: AbortSignal) => Promise<void>) | undefined;
  readonly clock: ManualClock;
  signal: AbortSignal | undefined;
  /** Ends what the leader does by itself. */
  endWork: () => void;
}

export interface CandidateOptions extends Partial<LeaderElectionOptions> {
  /** Its wall clock, for candidates whose clocks differ. */
  readonly now?: string;
  /** What is left to do when the signal aborts takes until `endWork`. */
  readonly isSlow?: boolean;
}

export function candidate(store: LeaseStore, identity: string, options: CandidateOptions = {}): Candidate {
  const clock = manualClock(options.now);
  const story: string[] = [];
  const self = { story, clock, fault: undefined, signal: undefined } as unknown as Candidate;
  const through = async <T>(call: "read" | "write", signal: AbortSignal, work: () => Promise<T>) => {
    await self.fault?.(call, signal);
    return work();
  };
  const election = startLeaderElection({
    identity,
    clock,
    jitter: () => 0,
    store: {
      read: (signal) => through("read", signal, () => store.read(signal)),
      write: (record, version, signal) => through("write", signal, () => store.write(record, version, signal)),
    },
    async onStartedLeading(signal) {
      story.push("start");
      self.signal = signal;
      const work = Promise.withResolvers<void>();
      self.endWork = work.resolve;
      signal.addEventListener("abort", () => {
        story.push("abort");
        if (!options.isSlow) work.resolve();
      });
      await work.promise;
    },
    onStoppedLeading: (why) => void story.push(why),
    ...options,
  });
  onTestFinished(async () => {
    self.fault = undefined;
    const stopped = election.stop();
    self.endWork?.();
    await stopped;
  });
  return Object.assign(self, { election });
}

/** Lets everything happen that needs no time. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await setImmediate();
}

/** Time goes on for all candidates alike, in steps of 100 ms. */
export async function pass(ms: number, ...candidates: Candidate[]): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    for (const { clock } of candidates) clock.advance(Math.min(100, left));
    await settle();
  }
}
