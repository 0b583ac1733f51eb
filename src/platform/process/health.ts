import { get } from "node:http";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";

const PROBE_TIMEOUT_MS = 2_000;
const NOTICE_MAX_BYTES = 1_024;

/** Reads `sless-listening <port>` from a child's notify descriptor; undefined when it closes without. */
export async function readPort(notify: Readable): Promise<number | undefined> {
  let text = "";
  try {
    for await (const chunk of notify) {
      text += chunk;
      const port = Number(/^sless-listening (\d{1,5})\n/m.exec(text)?.[1]);
      if (port >= 1 && port <= 65_535) return port;
      if (text.length > NOTICE_MAX_BYTES) return undefined;
    }
  } catch {
    // closed with the child
  }
  return undefined;
}

/** Asks until `GET /health` answers with 2xx, or `signal` aborts. */
export async function waitHealthy(address: { host: string; port: number }, intervalMs: number, signal: AbortSignal) {
  while (!signal.aborted && !(await isHealthy(address, signal))) {
    await setTimeout(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

function isHealthy({ host, port }: { host: string; port: number }, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      { host, port, path: "/health", agent: false, timeout: PROBE_TIMEOUT_MS, signal },
      (response) => {
        response.resume();
        const status = response.statusCode ?? 0;
        resolve(status >= 200 && status < 300);
      },
    );
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}
