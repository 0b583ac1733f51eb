import { keyOf, type ObjectOf, type WorkloadRef } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";
import { type CallOutcome, callTick, type Invoke } from "./call-tick.ts";

export interface EndedCall {
  readonly tick: string;
  readonly outcome: CallOutcome;
}

/** The calls that this process made: which are under way, and how those ended that no status tells yet. */
export interface TickCalls {
  /** Calls the function for a tick that was claimed just now. */
  start(trigger: ObjectOf<"Trigger">, workload: WorkloadRef, tick: string): void;
  /** Ticks of this very object whose calls are under way. */
  running(trigger: ObjectOf<"Trigger">): readonly string[];
  /** The call of this very object that ended last and was not told. */
  ended(trigger: ObjectOf<"Trigger">): EndedCall | undefined;
  /** The status tells how this call ended; one that ended meanwhile stays. */
  told(key: string, call: EndedCall): void;
  /** Nobody will ask how calls of the key ended. */
  forget(key: string): void;
  /** Waits for the calls under way: for most of the time for their ends, then they are broken off; never longer. */
  stop(timeoutMs: number): Promise<void>;
}

export interface TickCallsDeps {
  readonly invoke: Invoke;
  readonly clock: TimerClock;
  /** A call ended. */
  onEnd(key: string): void;
}

/** Share of the time to stop that a call gets to end by itself. */
const GRACE_SHARE = 0.8;

export function createTickCalls(deps: TickCallsDeps): TickCalls {
  const running = new Map<string, Set<{ readonly uid: string; readonly tick: string }>>();
  const ended = new Map<string, EndedCall & { readonly uid: string }>();
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function run(trigger: ObjectOf<"Trigger">, workload: WorkloadRef, tick: string): Promise<void> {
    const key = keyOf(trigger);
    const call = { uid: trigger.metadata.uid, tick };
    const calls = running.get(key) ?? new Set();
    running.set(key, calls.add(call));
    const outcome = await callTick({ trigger, workload, tick, signal: stopping.signal }, deps);
    calls.delete(call);
    if (calls.size === 0) running.delete(key);
    const before = ended.get(key);
    // Of calls that overlap, the one of the latest tick is told.
    if (before?.uid !== call.uid || before.tick < tick) ended.set(key, { ...call, outcome });
    deps.onEnd(key);
  }

  return {
    start(trigger, workload, tick) {
      const call = run(trigger, workload, tick);
      underWay.add(call);
      void call.finally(() => underWay.delete(call));
    },
    running: (trigger) =>
      [...(running.get(keyOf(trigger)) ?? [])]
        .filter(({ uid }) => uid === trigger.metadata.uid)
        .map(({ tick }) => tick),
    ended(trigger) {
      const call = ended.get(keyOf(trigger));
      return call?.uid === trigger.metadata.uid ? call : undefined;
    },
    told(key, call) {
      if (ended.get(key) === call) ended.delete(key);
    },
    forget: (key) => void ended.delete(key),
    async stop(timeoutMs) {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const cancels = [
        deps.clock.setTimer(timeoutMs * GRACE_SHARE, () => stopping.abort(new Error("sless stops"))),
        deps.clock.setTimer(timeoutMs, resolve),
      ];
      await Promise.race([over, Promise.all(underWay)]);
      for (const cancel of cancels) cancel();
    },
  };
}
