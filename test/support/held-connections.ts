import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface HeldConnections {
  readonly port: number;
  /** As when a cable is pulled: connections stay, and nothing passes any more. */
  hold(): void;
  /** Ends what was held; new connections pass again. */
  release(): void;
}

/** A way to a server of this machine that can be interrupted; it goes when the test ends. */
export async function holdableConnections(target: number): Promise<HeldConnections> {
  const sockets = new Set<Socket>();
  let isHeld = false;
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (chunk) => isHeld || to.write(chunk));
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        if (!isHeld) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const release = () => {
    if (isHeld) for (const socket of sockets) socket.destroy();
    isHeld = false;
  };
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      isHeld = true;
    },
    release,
  };
}
