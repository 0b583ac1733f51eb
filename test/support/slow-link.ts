import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { onTestFinished } from "vitest";

export interface SlowLinkOptions {
  /** Milliseconds that every byte takes, each way; default 20. */
  readonly latencyMs?: number;
  /** Each way, of all connections together; default 1,000,000. */
  readonly bytesPerSecond?: number;
}

export interface SlowLink {
  readonly port: number;
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  /** Bytes that went through, of all connections. */
  readonly passed: { toServer: number; toClient: number };
  /** Ends every connection at once, as a router does that restarts; new ones pass. */
  cut(): void;
}

/** So much goes at a time, so that connections share the line evenly. */
const PACKET_BYTES = 8 * 1024;

/**
 * A way to a server of this machine, over a link with latency and bandwidth in both directions; a connection takes a
 * round trip before its first byte. It goes when the test ends.
 *
 * @param target a port, or `127.0.0.1:<port>`
 */
export async function slowLink(target: number | string, options: SlowLinkOptions = {}): Promise<SlowLink> {
  const { latencyMs = 20, bytesPerSecond = 1_000_000 } = options;
  const [host, port] = typeof target === "number" ? ["127.0.0.1", target] : target.split(":");
  const sockets = new Set<Socket>();
  const passed = { toServer: 0, toClient: 0 };
  const toServer = line(bytesPerSecond, latencyMs, (bytes) => (passed.toServer += bytes));
  const toClient = line(bytesPerSecond, latencyMs, (bytes) => (passed.toClient += bytes));

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ host: host!, port: Number(port), allowHalfOpen: true, noDelay: true });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        // What is on its way still arrives, unless the connection broke.
        if (socket.errored || !socket.writableEnded) other.destroy();
      });
    }
    void toServer(client, upstream, 2 * latencyMs);
    void toClient(upstream, client, 0);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  const address = server.address() as AddressInfo;
  return { port: address.port, host: `127.0.0.1:${address.port}`, passed, cut };
}

/** One direction, shared by all connections: what one sends delays what the others send. */
function line(bytesPerSecond: number, latencyMs: number, count: (bytes: number) => void) {
  let freeAt = 0;

  return async (from: Socket, to: Socket, afterMs: number): Promise<void> => {
    let arrival = Promise.resolve();
    const arrive = (at: number, act: () => Promise<void> | void) => {
      arrival = arrival.then(async () => {
        await until(at);
        if (!to.destroyed) await act();
      });
      arrival.catch(() => to.destroy());
    };
    try {
      if (afterMs > 0) await wait(afterMs);
      // Its end is not the end of what goes the other way.
      for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
        for (let at = 0; at < chunk.length; at += PACKET_BYTES) {
          const packet = chunk.subarray(at, at + PACKET_BYTES);
          freeAt = Math.max(freeAt, performance.now()) + (packet.length / bytesPerSecond) * 1000;
          arrive(freeAt + latencyMs, () => passOn(packet, to, count));
          // The sender feels the bandwidth: what the line has not taken stays in its socket.
          await until(freeAt);
        }
      arrive(performance.now() + latencyMs, () => void to.end());
    } catch {
      to.destroy();
    }
  };
}

async function passOn(packet: Uint8Array, to: Socket, count: (bytes: number) => void): Promise<void> {
  const isTaken = to.write(packet);
  count(packet.byteLength);
  if (!isTaken && !to.destroyed) await Promise.race([once(to, "drain"), once(to, "close")]);
}

async function until(at: number): Promise<void> {
  const left = at - performance.now();
  if (left > 0) await wait(left);
}
