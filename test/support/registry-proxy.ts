import { request as send } from "node:http";
import { httpServer } from "./http-server.ts";

export interface ProxiedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Bytes that went to the registry. */
  readonly sent: number;
}

/** An answer instead of the registry's; `cut` ends the connection without one, `hold` takes nothing and says nothing. */
export type ProxyFault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | "cut"
  | "hold";

export interface RegistryProxy {
  /** `127.0.0.1:<port>`; as long as the test runs. */
  readonly host: string;
  readonly requests: ProxiedRequest[];
  /** Asked for every request; undefined lets it pass. */
  fault: (request: Pick<ProxiedRequest, "method" | "path">) => ProxyFault | undefined;
}

/** A way to a registry on which requests are counted and may fail. */
export async function registryProxy(registry: string): Promise<RegistryProxy> {
  const [hostname, port] = registry.split(":");
  const proxy: { -readonly [Key in keyof RegistryProxy]: RegistryProxy[Key] } = {
    host: "",
    requests: [],
    fault: () => undefined,
  };
  const server = await httpServer((incoming, answer) => {
    const { method = "GET", url: path = "/", headers } = incoming;
    const fault = proxy.fault({ method, path });
    if (fault === "cut") {
      incoming.socket.destroy();
      return;
    }
    if (fault === "hold") return;
    if (fault) {
      incoming.resume();
      answer.writeHead(fault.status, fault.headers).end(fault.body);
      proxy.requests.push({ method, path, sent: 0 });
      return;
    }
    const outgoing = send({ hostname, port, method, path, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    let sent = 0;
    incoming.on("data", (chunk: Buffer) => (sent += chunk.byteLength));
    incoming.on("end", () => proxy.requests.push({ method, path, sent }));
    outgoing.on("error", () => incoming.socket.destroy());
    incoming.pipe(outgoing);
  });
  proxy.host = `127.0.0.1:${server.port}`;
  return proxy;
}

/** What an error of a registry looks like. */
export function registryAnswer(status: number, code: string, headers: Record<string, string> = {}): ProxyFault {
  return { status, headers, body: JSON.stringify({ errors: [{ code, message: code.toLowerCase() }] }) };
}
