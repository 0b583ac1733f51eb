import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Ports of 127.0.0.1 on which nothing listens. Below those that systems give out by themselves, so that nobody gets one
 * of them by chance while its server restarts.
 */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
