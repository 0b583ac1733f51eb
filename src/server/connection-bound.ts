import type { Socket } from "node:net";

export interface ConnectionBoundOptions {
  /** Connections at a time. */
  readonly max: number;
  /** Hears of every connection that is closed for want of room. */
  readonly onShed?: () => void;
}

/** The connections of one server, so many at a time. */
export interface ConnectionBound {
  readonly open: number;
  /** Takes a new connection, and closes another one, or this, where there is no room. */
  take(socket: Socket): void;
  /** Something is asked on it: until `idle` was called as often, it is not closed for another of the same sender. */
  busy(socket: Socket): void;
  idle(socket: Socket): void;
}

interface Sender {
  readonly all: Set<Socket>;
  /** On which nothing is asked, longest first. */
  readonly idle: Set<Socket>;
}

/**
 * Each connection costs 10 to 20 KB, and anybody may open as many as he likes. Whoever comes when there is no room takes
 * the place of the connection that is idle for longest, of the sender that has most of them. Calls in flight are broken
 * off for nobody, unless one sender has more than half of all places: then for others than him.
 */
export function connectionBound({ max, onShed = () => undefined }: ConnectionBoundOptions): ConnectionBound {
  const senders = new Map<string, Sender>();
  const known = new Map<Socket, { readonly network: string; asked: number }>();

  function forget(socket: Socket): void {
    const { network } = known.get(socket) ?? {};
    known.delete(socket);
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
  /** @returns whose place is taken by a sender; undefined when it is nobody's */
  function victimFor(network: string): Socket | undefined {
    const mostIdle = heaviest(senders, ({ idle }) => idle.size);
    if (mostIdle && mostIdle.idle.size > 0) return first(mostIdle.idle);
    const most = heaviest(senders, ({ all }) => all.size);
    return most && most.all.size > max / 2 && most !== senders.get(network) ? first(most.all) : undefined;
  }

  return {
    get open() {
      return known.size;
    },
    take(socket) {
      const network = networkOf(socket.remoteAddress);
      const victim = known.size >= max ? victimFor(network) : undefined;
      if (known.size >= max && !victim) return shed(socket);
      if (victim) shed(victim);
      const sender = senders.get(network) ?? { all: new Set(), idle: new Set() };
      senders.set(network, sender);
      sender.all.add(socket);
      sender.idle.add(socket);
      known.set(socket, { network, asked: 0 });
      socket.once("close", () => forget(socket));
    },
    busy(socket) {
      const entry = known.get(socket);
      if (!entry) return;
      entry.asked += 1;
      senders.get(entry.network)?.idle.delete(socket);
    },
    idle(socket) {
      const entry = known.get(socket);
      if (!entry) return;
      entry.asked -= 1;
      if (entry.asked === 0) senders.get(entry.network)?.idle.add(socket);
    },
  };
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
