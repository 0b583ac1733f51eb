import { refText, type WorkloadRef } from "../../src/apis/index.ts";
import type { Lease, Platform, WorkloadState } from "../../src/platform/index.ts";

export interface FakeReplica {
  readonly replica: string;
  readonly origin: string;
}

/**
 * A platform whose replicas are servers that the test runs. It leases the least busy one and tells changes, as the
 * real ones do; it starts, stops and builds nothing.
 */
export interface FakePlatform extends Platform {
  /** From now on these serve the workload; the listeners hear of it. */
  serve(workload: WorkloadRef, replicas: readonly FakeReplica[]): void;
  /** Leases of a replica that are not released. */
  leases(replica: string): number;
  /** Resolves when the replica has no lease: it may be stopped. */
  drained(replica: string): Promise<void>;
}

export function fakePlatform(): FakePlatform {
  const serving = new Map<string, readonly FakeReplica[]>();
  const leased = new Map<string, number>();
  const listeners = new Set<(workload: WorkloadRef) => void>();
  let waiting: { replica: string; resolve: () => void }[] = [];
  const leases = (replica: string) => leased.get(replica) ?? 0;

  function leave(replica: string): void {
    leased.set(replica, leases(replica) - 1);
    const ready = waiting.filter((waiter) => leases(waiter.replica) === 0);
    waiting = waiting.filter((waiter) => leases(waiter.replica) > 0);
    for (const waiter of ready) waiter.resolve();
  }
  function acquire(workload: WorkloadRef): Lease | undefined {
    const replicas = serving.get(refText(workload)) ?? [];
    const [least] = replicas.toSorted((a, b) => leases(a.replica) - leases(b.replica));
    if (!least) return undefined;
    leased.set(least.replica, leases(least.replica) + 1);
    let released = false;
    return {
      ...least,
      release() {
        if (!released) leave(least.replica);
        released = true;
      },
    };
  }
  const state = async (workload: WorkloadRef): Promise<WorkloadState> => {
    const count = serving.get(refText(workload))?.length ?? 0;
    return { serving: count, current: true };
  };
  return {
    serve(workload, replicas) {
      serving.set(refText(workload), replicas);
      for (const listener of listeners) listener(workload);
    },
    leases,
    drained: (replica) =>
      leases(replica) === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ replica, resolve });
          }),
    acquire,
    state,
    apply: (spec) => state(spec.workload),
    remove: async (workload) => void serving.delete(refText(workload)),
    list: async () => [],
    runJob: async () => {
      throw new Error("the fake platform runs no jobs");
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async *logs(workload) {
      yield Buffer.from(`${refText(workload)} says hello\n`);
    },
  };
}
