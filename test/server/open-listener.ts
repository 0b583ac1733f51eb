import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { openGuard } from "../../src/server/index.ts";
import { createListener, type ListenerDeps } from "../../src/server/listener.ts";

const NO_CALLS = { isCall: () => false, handle: () => undefined, handleUpgrade: () => undefined };

/** A listener in front of `api` alone, which goes when the test ends. @returns its port on 127.0.0.1 */
export async function openListener(
  options: Partial<ListenerDeps>,
  api: RequestListener = (_req, res) => res.end("ok"),
): Promise<number> {
  const listener = createListener({ gateway: NO_CALLS, guard: openGuard, api, ...options });
  const { server } = listener;
  server.on("clientError", (error, socket) => listener.refuseUnparsable(error, socket as never));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
