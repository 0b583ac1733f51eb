import { keyOf, type ObjectKey } from "../../src/apis/index.ts";
import type { Routes } from "../../src/routes/index.ts";

export interface MemoryRoutes extends Routes {
  /** As somebody else does who may. */
  takeAway(target: ObjectKey): void;
  /** How often a route was written. */
  readonly writes: { count: number };
}

/** Routes in memory. @param faults replaces methods, to make them fail */
export function memoryRoutes(faults: Partial<Routes> = {}): MemoryRoutes {
  const published = new Map<string, ObjectKey>();
  const listeners = new Set<(target: ObjectKey) => void>();
  const writes = { count: 0 };
  const tell = (target: ObjectKey) => {
    for (const listener of listeners) listener(target);
  };
  const drop = (target: ObjectKey) => {
    if (published.delete(keyOf(target))) tell(target);
  };
  return {
    async publish({ namespace, name }) {
      if (published.has(keyOf({ namespace, name }))) return;
      published.set(keyOf({ namespace, name }), { namespace, name });
      writes.count += 1;
      tell({ namespace, name });
    },
    withdraw: async (target) => drop(target),
    list: () => [...published.values()],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    takeAway: drop,
    writes,
    ...faults,
  };
}
