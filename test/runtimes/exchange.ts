import { request } from "node:http";
import { connect } from "node:net";
import { buffer, text } from "node:stream/consumers";

export interface Call {
  readonly method?: string;
  /** Path with query. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly json: unknown;
}

/** One request over a connection of its own; rejects when the answer does not end as it should. */
export async function send(origin: string, call: Call = {}): Promise<Reply> {
  const outgoing = request(origin + (call.path ?? "/"), {
    method: call.method ?? "POST",
    headers: { ...call.headers },
    agent: false,
    ...(call.signal && { signal: call.signal }),
  });
  const answered = new Promise<Reply>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      buffer(incoming).then((body) => {
        resolve({ status: incoming.statusCode!, headers: incoming.headers, body, json: parsed(body) });
      }, reject);
    });
  });
  if (call.body === undefined || typeof call.body === "string" || call.body instanceof Uint8Array)
    outgoing.end(call.body);
  else {
    for await (const chunk of call.body) outgoing.write(chunk);
    outgoing.end();
  }
  return answered;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** Sends a JSON event to a behaviour of the main fixture. */
export function act(origin: string, action: string, event: unknown = {}, more: Call = {}): Promise<Reply> {
  return send(origin, {
    path: `/${action}`,
    body: JSON.stringify(event),
    ...more,
    headers: { "content-type": "application/json", ...more.headers },
  });
}

/** Writes bytes as they are and gives all that comes back until the server ends the connection. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes, "latin1");
  return text(socket.setEncoding("latin1"));
}
