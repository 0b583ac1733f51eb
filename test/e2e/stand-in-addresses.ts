import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";

/**
 * Addresses of this machine that stand for places elsewhere. Nobody else has them: they are of ranges for
 * documentation, benchmarks and links.
 */
export const STAND_INS = {
  internet: "203.0.113.71",
  deniedInternet: "203.0.113.72",
  privateNetwork: "198.18.113.71",
  allowedPrivateNetwork: "198.18.113.72",
  /** Of the range in which clouds tell secrets to whoever asks. */
  linkLocal: "169.254.113.71",
} as const;

export type StandIn = keyof typeof STAND_INS;

export interface Places extends AsyncDisposable {
  readonly ports: Readonly<Record<StandIn, number>>;
}

/** Listens at each of them; pods reach them through their node, this machine. Needs root. */
export async function openStandIns(): Promise<Places> {
  const servers: Server[] = [];
  const ports: Partial<Record<StandIn, number>> = {};
  for (const [name, address] of Object.entries(STAND_INS)) {
    await ip("address", "replace", `${address}/32`, "dev", "lo");
    const server = createServer((_request, response) => response.end(name));
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, address, resolve));
    servers.push(server);
    ports[name as StandIn] = (server.address() as AddressInfo).port;
  }
  return {
    ports: ports as Record<StandIn, number>,
    async [Symbol.asyncDispose]() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      for (const address of Object.values(STAND_INS)) await ip("address", "delete", `${address}/32`, "dev", "lo");
    },
  };
}

async function ip(...args: string[]): Promise<void> {
  await promisify(execFile)("ip", args);
}
