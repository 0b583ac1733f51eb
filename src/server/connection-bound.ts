import type { Socket } from "node:net";

export interface ConnectionBoundOptions {
  /** Connections at a time on which anything may be asked. */
  readonly max: number;
  /** Connections beyond them that wait for a place with their first request; default 128. */
  readonly waiting?: number;
  /** Hears of every connection that is closed for want of room. */
  readonly onShed?: () => void;
}

/** The connections of one server, so many at a time. */
export interface ConnectionBound {
  readonly open: number;
  /** Takes a new connection. Where all places are taken it waits, and one of those that wait may be closed for it. */
  take(socket: Socket): void;
  /**
   * Something is asked on it: until `idle` was called as often, it is not closed for another of the same sender. One that
   * waits takes the place of another one.
   *
   * @returns false when there is none to take: then `idle` is not to be called
   */
  busy(socket: Socket): boolean;
  idle(socket: Socket): void;
}

interface Sender {
  readonly all: Set<Socket>;
  /** On which nothing is asked, longest first. */
  readonly idle: Set<Socket>;
}

const WAITING_MAX = 128;

/**
 * Each connection costs 10 to 20 KB, and anybody may open as many as he likes. Whoever asks something when there is no
 * room takes the place of the connection that is idle for longest, of the sender that has most of them. Calls in flight
 * are broken off for nobody, unless one sender has more than half of all places: then for others than him.
 *
 * A place is taken with the first request, and not before, so that where all are busy it can still be told what is asked.
 */
export function connectionBound(options: ConnectionBoundOptions): ConnectionBound {
  const { max, waiting = WAITING_MAX, onShed = () => undefined } = options;
  const senders = new Map<string, Sender>();
  const placed = new Map<Socket, { readonly network: string; asked: number }>();
  /** By what network they are of. */
  const waits = new Map<Socket, string>();

  function forget(socket: Socket): void {
    waits.delete(socket);
    const { network } = placed.get(socket) ?? {};
    placed.delete(socket);
    const sender = network === undefined ? undefined : senders.get(network);
    sender?.all.delete(socket);
    sender?.idle.delete(socket);
    if (network !== undefined && sender?.all.size === 0) senders.delete(network);
  }
  function shed(socket: Socket): void {
    forget(socket);
    socket.destroy();
    onShed();
  }
  function place(socket: Socket, network: string): void {
    waits.delete(socket);
    const sender = senders.get(network) ?? { all: new Set(), idle: new Set() };
    senders.set(network, sender);
    sender.all.add(socket);
    sender.idle.add(socket);
    placed.set(socket, { network, asked: 0 });
  }
  /** @returns whose place is taken by a sender; undefined when it is nobody's */
  function victimFor(network: string): Socket | undefined {
    const mostIdle = heaviest(senders, ({ idle }) => idle.size);
    if (mostIdle && mostIdle.idle.size > 0) return first(mostIdle.idle);
    const most = heaviest(senders, ({ all }) => all.size);
    return most && most.all.size > max / 2 && most !== senders.get(network) ? first(most.all) : undefined;
  }
  /** @returns whether there is a place for a sender now */
  function makeRoom(network: string): boolean {
    if (placed.size < max) return true;
    const victim = victimFor(network);
    if (victim) shed(victim);
    return victim !== undefined;
  }

  return {
    get open() {
      return placed.size + waits.size;
    },
    take(socket) {
      const network = networkOf(socket.remoteAddress);
      socket.once("close", () => forget(socket));
      if (placed.size < max) return place(socket, network);
      waits.set(socket, network);
      if (waits.size > waiting) shed(longestOfHeaviest(waits));
    },
    busy(socket) {
      const network = waits.get(socket);
      if (network !== undefined && makeRoom(network)) place(socket, network);
      const entry = placed.get(socket);
      if (!entry) return false;
      entry.asked += 1;
      senders.get(entry.network)?.idle.delete(socket);
      return true;
    },
    idle(socket) {
      const entry = placed.get(socket);
      if (!entry) return;
      entry.asked -= 1;
      if (entry.asked === 0) senders.get(entry.network)?.idle.add(socket);
    },
  };
}

/** Of the network that most of them are of. */
function longestOfHeaviest(waits: ReadonlyMap<Socket, string>): Socket {
  const byNetwork = Map.groupBy(waits, ([, network]) => network);
  const most = [...byNetwork.values()].reduce((found, of) => (of.length > found.length ? of : found));
  return most[0]![0];
}

function heaviest(senders: ReadonlyMap<string, Sender>, weight: (sender: Sender) => number): Sender | undefined {
  let found: Sender | undefined;
  for (const sender of senders.values()) if (!found || weight(sender) > weight(found)) found = sender;
  return found;
}

function first<T>(values: ReadonlySet<T>): T | undefined {
  return values.values().next().value;
}

/** An IPv4 address; of IPv6 its /64, for that is what one subscriber has all addresses of. */
export function networkOf(address = ""): string {
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill("0"), ...after].slice(0, 4).join(":");
}
