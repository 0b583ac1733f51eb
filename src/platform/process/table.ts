import type { Lease } from "../platform.ts";
import type { Replica } from "./start-replica.ts";

/** A replica that serves, and the calls it has in flight. */
export interface Seat {
  readonly replica: Replica;
  readonly readySince: number;
  leases: number;
  lastUsed: number;
  /** Called when the last call in flight ends. */
  onIdle: (() => void) | undefined;
}

export function toSeat(replica: Replica, now: number): Seat {
  return { replica, readySince: now, leases: 0, lastUsed: 0, onIdle: undefined };
}

let uses = 0;

/** A lease of the seat with the fewest calls; among equals of the one that waited longest. */
export function leaseLeastBusy(seats: readonly Seat[]): Lease | undefined {
  let best: Seat | undefined;
  for (const seat of seats) {
    if (!best || seat.leases < best.leases || (seat.leases === best.leases && seat.lastUsed < best.lastUsed))
      best = seat;
  }
  return best && toLease(best);
}

function toLease(seat: Seat): Lease {
  seat.leases++;
  seat.lastUsed = ++uses;
  let released = false;
  return {
    origin: seat.replica.origin,
    replica: seat.replica.name,
    release() {
      if (released) return;
      released = true;
      seat.leases--;
      if (seat.leases === 0) seat.onIdle?.();
    },
  };
}

/** Resolves when the seat has no calls in flight, or after `timeoutMs`. */
export async function idleSeat(seat: Seat, timeoutMs: number): Promise<void> {
  if (seat.leases === 0) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    seat.onIdle = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
