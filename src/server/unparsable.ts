import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { SlessError } from "../errors/index.ts";
import { slessAnswer } from "./error-answer.ts";

/** How long the rest of what a refused client sends is read, so that a reset does not take the answer from it. */
const LINGER_MS = 500;

/** The last request of a connection and its answer. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

type ParseError = Error & { readonly code?: string; readonly reason?: string };

/**
 * Ends a connection on which something came that is no HTTP. It is answered as all other faults, but never in the
 * middle of another answer, nor as a second one to the same request.
 *
 * @param last the request that came before or, when its body is not complete, whose part this is
 */
export function refuseUnparsable(error: ParseError, socket: Socket, last: Exchange | undefined): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (last?.req.complete && !last.res.writableFinished) {
    last.res.once("close", () => socket.destroySoon());
    return;
  }
  // Without its socket an answer waits for those to earlier requests.
  if (last && !last.req.complete && (last.res.headersSent || !last.res.socket)) {
    socket.destroySoon();
    return;
  }
  socket.on("error", () => undefined).end(answerTo(error));
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

function answerTo(error: ParseError): string {
  const { status, cause } = faultOf(error);
  const text = `${JSON.stringify(slessAnswer(new SlessError("invalid_request", { cause })).body)}\n`;
  const head = [
    `HTTP/1.1 ${status}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${text}`;
}

function faultOf({ code, reason, message }: ParseError): { status: string; cause: string } {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: "431 Request Header Fields Too Large", cause: "its headers are larger than 16 KiB together" };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: "413 Content Too Large", cause: "its chunk extensions are too large" };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: "408 Request Timeout", cause: "its head did not come in time" };
    default:
      return { status: "400 Bad Request", cause: `it is no HTTP/1.1: ${(reason ?? message).slice(0, 200)}` };
  }
}
