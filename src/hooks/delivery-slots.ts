import type { Clock } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";

export interface DeliverySlotsOptions {
  readonly max: number;
  readonly perKey: number;
  /** Who sends slower than this is behind, the longer the more. */
  readonly bytesPerSecond: number;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Whom a delivery is for, and from which address it comes. */
export interface Sent {
  readonly key: string;
  readonly from: string;
}

/** A body that begins when it is opened, and fails with the signal's reason when that aborts. */
export type OpenBody = (signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** Where a delivery is under way. */
export interface Place {
  /** The body. While it is read the place may be taken away: reading then throws SlessError `hooks_busy`. */
  receive(open: OpenBody): AsyncIterable<Uint8Array>;
}

export interface DeliverySlots {
  /** @throws SlessError `hooks_busy` when too many are under way, for this key or in all */
  run<T>(sent: Sent, work: (place: Place) => Promise<T>): Promise<T>;
}

interface Taken extends Place {
  readonly sent: Sent;
  /** How far its sender is behind, in milliseconds; undefined while it is not the sender who is waited for. */
  behindMs(): number | undefined;
  shed(): void;
}

/**
 * Each delivery may hold a payload in memory, so there are only so many at a time. Anybody can begin one and dawdle: who
 * comes when there is no room takes the place of him who is furthest behind, first of those for the same key, else of
 * those from the address that has most places. So slow senders cost nobody more than each other.
 */
export function deliverySlots(options: DeliverySlotsOptions): DeliverySlots {
  const { max, perKey } = options;
  const taken = new Set<Taken>();

  function makeRoom({ key }: Sent): void {
    const own = [...taken].filter(({ sent }) => sent.key === key);
    if (own.length >= perKey) shedOne(own);
    else if (taken.size >= max) shedOne(ofHeaviest([...taken]));
  }
  /** @throws SlessError `hooks_busy` */
  function shedOne(among: readonly Taken[]): void {
    const slowest = furthestBehind(among);
    if (!slowest) throw new SlessError("hooks_busy");
    taken.delete(slowest);
    slowest.shed();
  }
  return {
    async run(sent, work) {
      makeRoom(sent);
      const place = takePlace(sent, options);
      taken.add(place);
      try {
        return await work(place);
      } finally {
        taken.delete(place);
      }
    },
  };
}

function takePlace(sent: Sent, { clock, bytesPerSecond }: DeliverySlotsOptions): Taken {
  const shedding = new AbortController();
  let began: number | undefined;
  let size = 0;
  return {
    sent,
    behindMs: () => (began === undefined ? undefined : clock.monotonicMs() - began - (size * 1_000) / bytesPerSecond),
    shed: () => shedding.abort(new SlessError("hooks_busy")),
    async *receive(open) {
      began = clock.monotonicMs();
      try {
        for await (const chunk of open(shedding.signal)) {
          size += chunk.length;
          yield chunk;
        }
      } finally {
        began = undefined;
      }
    },
  };
}

/** Those that can be shed from the address that has most of them. */
function ofHeaviest(all: readonly Taken[]): readonly Taken[] {
  const byAddress = Map.groupBy(
    all.filter((place) => place.behindMs() !== undefined),
    ({ sent }) => sent.from,
  );
  return [...byAddress.values()].reduce<readonly Taken[]>((most, of) => (of.length > most.length ? of : most), []);
}

function furthestBehind(among: readonly Taken[]): Taken | undefined {
  let furthest: { readonly place: Taken; readonly behindMs: number } | undefined;
  for (const place of among) {
    const behindMs = place.behindMs();
    if (behindMs !== undefined && behindMs > (furthest?.behindMs ?? Number.NEGATIVE_INFINITY))
      furthest = { place, behindMs };
  }
  return furthest?.place;
}
