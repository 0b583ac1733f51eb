import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface RunningServer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly port: number;
  readonly server: Server | TlsServer;
  /** Ends it with all of its connections, as a killed process does. */
  kill(): Promise<void>;
}

/** A real HTTP server on loopback that goes when the test ends. @param port default: a free one */
export async function httpServer(
  handler: RequestListener,
  server: Server | TlsServer = createServer(handler),
  port = 0,
): Promise<RunningServer> {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  async function kill(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }
  onTestFinished(kill);
  return { origin: `http://127.0.0.1:${address.port}`, port: address.port, server, kill };
}

/** The whole body of a message. */
export async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await message.toArray());
}
