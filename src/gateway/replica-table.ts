import type { Pool } from "undici";
import { refText, type WorkloadRef } from "../apis/index.ts";
import type { Lease } from "../platform/index.ts";
import { callPool } from "./call-pool.ts";

/** Shorter than the idle time of the runtimes' servers, so that the gateway, not the replica, closes idle connections. */
const KEEP_ALIVE_MS = 4_000;
const RESPONSE_HEADER_MAX_BYTES = 64 * 1024;
/** A replica that blocks is ended at the deadline of the blocking call; clocks and timers differ by this much. */
const DEADLINE_SLACK_MS = 100;
/** How long an unanswered call explains the end of its replica after its deadline. */
const LAPSED_MS = 15_000;

/** A call that is on its way to a replica. `deadline` is monotonic, Infinity without a limit. */
export interface CallOfReplica {
  readonly deadline: number;
}

/** A replica as the gateway sees it: its connections, and the calls that share its fate. */
export interface Replica {
  readonly pool: Pool;
  enter(call: CallOfReplica): void;
  /** `answered` false: the call ended without its complete answer, and its handler may still run. */
  leave(call: CallOfReplica, outcome: { answered: boolean }): void;
  /** One of its calls, now or shortly before, was beyond its deadline: the replica blocks or was ended for it. */
  hasLapsedCall(now: number): boolean;
}

export interface ReplicaTable {
  /** The replica of a lease, with one pool of kept-alive connections for its life. */
  of(workload: WorkloadRef, lease: Lease): Replica;
  /** Something changed there: pools without a call are closed now, the others when their last call ends. */
  retire(workload: WorkloadRef): void;
  /** Ends all connections, also those in use. */
  close(): Promise<void>;
}

export function isLapsed(call: CallOfReplica, now: number): boolean {
  return call.deadline <= now + DEADLINE_SLACK_MS;
}

interface Entry extends Replica {
  readonly key: string;
  readonly workload: string;
  readonly isIdle: boolean;
  stale: boolean;
}

/** By both: a port may be handed out again, and a platform may start a replica again under its name. */
const replicaKey = ({ replica, origin }: Lease) => `${replica} ${origin}`;

export function createReplicaTable(): ReplicaTable {
  const entries = new Map<string, Entry>();

  function drop(entry: Entry): void {
    entries.delete(entry.key);
    entry.pool.close().catch(() => undefined);
  }
  function open(workload: string, lease: Lease): Entry {
    const entry: Entry = openReplica(workload, lease, () => {
      if (entry.stale && entry.isIdle) drop(entry);
    });
    entries.set(entry.key, entry);
    return entry;
  }
  return {
    of(workload, lease) {
      const entry = entries.get(replicaKey(lease)) ?? open(refText(workload), lease);
      entry.stale = false;
      return entry;
    },
    retire(workload) {
      const text = refText(workload);
      for (const entry of entries.values()) {
        if (entry.workload !== text) continue;
        entry.stale = true;
        if (entry.isIdle) drop(entry);
      }
    },
    async close() {
      const pools = [...entries.values()].map((entry) => entry.pool.destroy());
      entries.clear();
      await Promise.all(pools);
    },
  };
}

function openReplica(workload: string, lease: Lease, onLeave: () => void): Entry {
  const calls = new Set<CallOfReplica>();
  let lapsed: number[] = [];
  return {
    key: replicaKey(lease),
    workload,
    stale: false,
    pool: callPool(lease.origin, { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: RESPONSE_HEADER_MAX_BYTES }),
    get isIdle() {
      return calls.size === 0;
    },
    enter: (call) => void calls.add(call),
    leave(call, { answered }) {
      if (calls.delete(call) && !answered && call.deadline !== Number.POSITIVE_INFINITY) lapsed.push(call.deadline);
      onLeave();
    },
    hasLapsedCall(now) {
      lapsed = lapsed.filter((deadline) => deadline > now - LAPSED_MS);
      return [...calls].some((call) => isLapsed(call, now)) || lapsed.some((deadline) => isLapsed({ deadline }, now));
    },
  };
}
