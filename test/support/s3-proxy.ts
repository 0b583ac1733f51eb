import { type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { Transform } from "node:stream";
import { httpServer } from "./http-server.ts";

export interface S3ProxyRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

/** What becomes of a request instead of passing. Bytes count in bodies. */
export type S3Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** The connection ends without an answer, which the server may have given (`answerLost`) or not. */
  | "cut"
  | "answerLost"
  /** The connection stays, and no answer comes. */
  | "stall"
  /** It ends, or stays without a byte more, in the midst of the answer or of the request. */
  | { readonly cutAnswerAfter: number }
  | { readonly stallAnswerAfter: number }
  | { readonly cutRequestAfter: number }
  /** One byte of the answer is another. */
  | { readonly flip: number };

export interface S3Proxy {
  /** `http://127.0.0.1:<port>`; as long as the test runs. */
  readonly endpoint: string;
  readonly port: number;
  readonly requests: S3ProxyRequest[];
  /** Asked for every request; undefined lets it pass. */
  fault: (request: S3ProxyRequest) => S3Fault | undefined;
}

/** A way to an S3 server on which requests are noted and may fail in all the ways in which a network does. */
export async function s3Proxy(endpoint: string): Promise<S3Proxy> {
  const { hostname, port } = new URL(endpoint);
  const server = await httpServer((incoming, answer) => {
    const { method = "GET", url: path = "/", headers } = incoming;
    const request = { method, path, headers };
    proxy.requests.push(request);
    const fault = proxy.fault(request);
    if (fault === "stall") return void incoming.resume();
    if (fault === "cut") return void incoming.socket.destroy();
    if (typeof fault === "object" && "status" in fault) {
      incoming.resume();
      return void answer
        .writeHead(fault.status, { "content-type": "application/xml", ...fault.headers })
        .end(fault.body);
    }
    const outgoing = send({ hostname, port, method, path, headers }, (response) => {
      if (fault === "answerLost") return void response.on("end", () => incoming.socket.destroy()).resume();
      pass(response, answer, fault);
    });
    outgoing.on("error", () => incoming.socket.destroy());
    incoming.on("error", () => outgoing.destroy());
    if (typeof fault === "object" && "cutRequestAfter" in fault)
      incoming.pipe(endingAt(fault.cutRequestAfter, () => incoming.socket.destroy())).pipe(outgoing);
    else incoming.pipe(outgoing);
  });
  const proxy: S3Proxy = { endpoint: server.origin, port: server.port, requests: [], fault: () => undefined };
  return proxy;
}

function pass(response: IncomingMessage, answer: ServerResponse, fault: S3Fault | undefined): void {
  answer.writeHead(response.statusCode ?? 502, response.headers);
  if (fault === undefined || typeof fault === "string") return void response.pipe(answer);
  if ("flip" in fault) response.pipe(flipping(fault.flip)).pipe(answer);
  else if ("cutAnswerAfter" in fault)
    response.pipe(endingAt(fault.cutAnswerAfter, () => answer.socket?.destroy())).pipe(answer);
  else if ("stallAnswerAfter" in fault) response.pipe(endingAt(fault.stallAnswerAfter, () => undefined)).pipe(answer);
  else response.pipe(answer);
}

/** Lets so many bytes pass and none after them. */
function endingAt(bytes: number, then: () => void): Transform {
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const taken = chunk.subarray(0, left);
      left -= taken.length;
      if (left > 0) return done(null, taken);
      this.push(taken);
      // What was pushed is to leave before the connection ends.
      setImmediate(() => setImmediate(then));
    },
  });
}

function flipping(index: number): Transform {
  let at = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const copy = Buffer.from(chunk);
      if (index >= at && index < at + copy.length) copy[index - at]! ^= 1;
      at += copy.length;
      done(null, copy);
    },
  });
}

/** What an error of S3 looks like. */
export function s3Answer(status: number, code: string, headers: Record<string, string> = {}): S3Fault {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>no ${code} today</Message></Error>`;
  return { status, headers, body };
}
