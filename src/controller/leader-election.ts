import { messageOf } from "../errors/index.ts";
import { pause, type TimerClock } from "./clock.ts";
import { createCandidacy, type LeaseTimes } from "./lease-candidacy.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { ControllerLog } from "./log.ts";

export interface LeaderElectionOptions {
  readonly store: LeaseStore;
  /** Unique for this process: another life of the same pod is another candidate. */
  readonly identity: string;
  readonly clock: TimerClock;
  readonly log?: ControllerLog;
  readonly times?: Partial<LeaseTimes>;
  /** Gives 0 ≤ n < 1; spreads candidates. Default `Math.random`. */
  readonly jitter?: () => number;
  /**
   * Does what only a leader does, until the signal aborts; resolves once all of it has ended, which must not take longer
   * than the lease outlives the deadline (5 s). When it ends by itself the lease is let go.
   */
  onStartedLeading(signal: AbortSignal): Promise<void>;
  /** Everything has ended. `lost`: the lease could not be renewed, or another has it. */
  onStoppedLeading?(why: "stopped" | "lost"): void;
  /** Hears who leads, once per leader. */
  onNewLeader?(identity: string): void;
}

export interface LeaderElection {
  isLeader(): boolean;
  /** Who led when this process looked last. */
  leader(): string | undefined;
  /** Ends what the leader does, lets go of the lease, so that another leads at once, and candidates no more. */
  stop(): Promise<void>;
}

/** Candidates wait between this and 1.2 times as long. */
const JITTER_SHARE = 0.2;

/**
 * Candidates for a lease and leads while it holds it, as client-go does: a lease is taken over once it was not *seen* to
 * change for its whole duration, by the candidate's own monotonic clock, so clocks that differ do no harm. A leader that
 * cannot renew stops before any other candidate can have waited long enough, and then candidates again.
 */
export function startLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { clock, log, identity, jitter = Math.random } = options;
  const candidacy = createCandidacy(options);
  const stopping = new AbortController();
  let leading: AbortController | undefined;
  let leader: string | undefined;

  const noteLeader = () => {
    const holder = candidacy.holder();
    if (holder === leader) return;
    leader = holder;
    if (holder !== undefined) options.onNewLeader?.(holder);
  };

  async function campaign(): Promise<void> {
    while (!stopping.signal.aborted) {
      const sentMs = clock.monotonicMs();
      const outcome = await candidacy.claim(stopping.signal).catch((error: unknown) => {
        log?.warn({ identity, err: messageOf(error) }, "the lease could not be read or written");
        return "waiting" as const;
      });
      noteLeader();
      if (outcome === "held") await lead(sentMs);
      // Whoever could not go on with it lets others try first.
      const turns = outcome === "held" ? 2 : 1;
      await pause(turns * candidacy.times.retryMs * (1 + jitter() * JITTER_SHARE), clock, stopping.signal);
    }
  }

  async function lead(sentMs: number): Promise<void> {
    const control = new AbortController();
    leading = control;
    const end = () => control.abort();
    stopping.signal.addEventListener("abort", end, { once: true });
    if (stopping.signal.aborted) end();
    const work = runWork(control);
    const isLost = await renewUntilOver(sentMs, control);
    control.abort();
    await work;
    leading = undefined;
    stopping.signal.removeEventListener("abort", end);
    if (!isLost || candidacy.holder() === identity) await candidacy.release().catch(() => {});
    options.onStoppedLeading?.(isLost ? "lost" : "stopped");
  }

  async function runWork(control: AbortController): Promise<void> {
    try {
      if (!control.signal.aborted) await options.onStartedLeading(control.signal);
    } catch (error) {
      log?.error({ identity, err: messageOf(error) }, "what the leader does failed");
    } finally {
      control.abort();
    }
  }

  /** @returns whether the lease was lost, and not the work ended or the process stopped */
  async function renewUntilOver(sentMs: number, control: AbortController): Promise<boolean> {
    let isLost = false;
    const lose = (why: string) => {
      if (control.signal.aborted) return;
      isLost = true;
      log?.warn({ identity, why }, "the lead is lost");
      control.abort();
    };
    const deadlineAfter = (ms: number) =>
      clock.setTimer(ms + candidacy.times.renewDeadlineMs - clock.monotonicMs(), () => lose("not renewed in time"));
    let cancel = deadlineAfter(sentMs);
    while (!control.signal.aborted) {
      await pause(candidacy.times.retryMs, clock, control.signal);
      if (control.signal.aborted) break;
      const beganMs = clock.monotonicMs();
      const outcome = await candidacy.renew(control.signal).catch((error: unknown) => {
        if (!control.signal.aborted) log?.warn({ identity, err: messageOf(error) }, "the lease was not renewed");
        return "unknown" as const;
      });
      if (outcome === "lost") lose("another has the lease");
      if (outcome !== "renewed" || control.signal.aborted) continue;
      cancel();
      // Others count from when they saw it, which is not before it was sent.
      cancel = deadlineAfter(beganMs);
    }
    cancel();
    noteLeader();
    return isLost;
  }

  const campaigning = campaign();
  return {
    isLeader: () => leading !== undefined && !leading.signal.aborted,
    leader: () => leader,
    async stop() {
      stopping.abort();
      await campaigning;
    },
  };
}
