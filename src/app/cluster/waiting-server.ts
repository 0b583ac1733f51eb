import { createServer, type ServerResponse } from "node:http";
import { SlessError } from "../../errors/index.ts";

/** Stands in for the server of a process until that has read from the cluster what it serves. */
export interface WaitingServer {
  /** Gives the port free. */
  close(): Promise<void>;
}

/**
 * Answers on the port of a process that is being started: it is alive, so that nobody ends it for waiting, and it is not
 * ready. Whatever else comes, calls of functions too, is told to come again. Where it cannot listen it does nothing:
 * whoever listens there next says why.
 */
export async function openWaitingServer(at: { readonly host: string; readonly port: number }): Promise<WaitingServer> {
  const error = new SlessError("cluster_unavailable", { cause: "this process has just started and waits for it" });
  const refusal = { error: error.message, code: error.code, details: [] };
  const server = createServer((request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (path === "/healthz") answer(response, 200, { status: "ok" });
    else if (path === "/readyz") answer(response, 503, { ready: false, reasons: [`start: ${error.message}`] });
    else answer(response, error.status, refusal);
  });
  await new Promise<void>((resolve) => {
    // For good: a connection that cannot be accepted later must not end the process either.
    server.on("error", () => resolve());
    server.listen(at, resolve);
  });
  let closed: Promise<void> | undefined;
  return {
    close() {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = `${JSON.stringify(body)}\n`;
  const headers = { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(text) };
  response.writeHead(status, { ...headers, connection: "close" }).end(text);
}
