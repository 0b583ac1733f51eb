import { createSlots } from "../controller/slots.ts";

/** How long a command counts. One that takes longer goes on, but no longer keeps others from starting. */
const SLOT_MAX_MS = 30_000;

export interface CommandSlots {
  /**
   * Runs the work when a slot is free and it is the turn of its tenant, of which there is one where none is named; rejects
   * with the signal's reason when it aborts before.
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>, tenant?: string): Promise<T>;
}

/** At most `count` commands at the same time, hanging ones aside: one bad function never blocks another. */
export function openCommandSlots(count: number, slotMaxMs: number = SLOT_MAX_MS): CommandSlots {
  const slots = createSlots(count);
  return {
    async run(signal, work, tenant = "") {
      const release = await slots.take(signal, tenant);
      const timer = setTimeout(release, slotMaxMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        release();
      }
    },
  };
}
