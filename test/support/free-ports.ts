import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that systems give out by themselves, which are any connection's. */
const FIRST = 20_000;
const END = 32_000;

/**
 * Ports of loopback for servers that are told theirs, also across restarts: nothing listens there, no connection gets
 * one by chance while its server is down, and no other test of this machine that asks here is given it as long as this
 * process lives.
 */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    const port = randomInt(FIRST, END);
    if (!found.includes(port) && (await claim(port)) && (await isFree(port))) found.push(port);
  }
  return found;
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

/** On Linux by a socket whose name is in no folder: it goes with the process. Elsewhere chance has to do. */
async function claim(port: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const server = createServer().unref();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(`\0sless-test-port-${port}`, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
