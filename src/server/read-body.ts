import type { IncomingMessage } from "node:http";
import { SlessError } from "../errors/index.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** The body is given up when nothing comes for so long. */
  readonly idleMs: number;
  /** … or when it is not all there by then. */
  readonly totalMs: number;
}

/**
 * Reads a body into memory. What comes after a refusal is thrown away, so that the client gets to read the answer.
 *
 * @throws SlessError `too_large`, `invalid_request` when it stalls or breaks off
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  // Whoever had to wait for his turn may have gone.
  if (request.destroyed) throw new SlessError("invalid_request", { cause: "its body broke off" });
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const refuse = (cause: string) => reject(new SlessError("invalid_request", { cause }));
  const idle = setTimeout(() => refuse(`nothing came for ${limits.idleMs / 1000} s`), limits.idleMs);
  const total = setTimeout(() => refuse(`its body took longer than ${limits.totalMs / 1000} s`), limits.totalMs);
  const take = (chunk: Buffer) => {
    idle.refresh();
    size += chunk.length;
    if (size > limits.maxBytes)
      reject(new SlessError("too_large", { what: "The archive", limit: `${limits.maxBytes} bytes` }));
    else chunks.push(chunk);
  };
  const finish = () => resolve(Buffer.concat(chunks));
  const breakOff = () => refuse("its body broke off");
  request.on("data", take).once("end", finish).once("close", breakOff).once("error", breakOff);
  try {
    return await promise;
  } finally {
    clearTimeout(idle);
    clearTimeout(total);
    request.off("data", take).off("end", finish).off("close", breakOff);
    if (!request.readableEnded) throwAwayRest(request, limits.idleMs);
  }
}

/** Not for ever: a body without an end would keep its connection. */
function throwAwayRest(request: IncomingMessage, withinMs: number): void {
  const timer = setTimeout(() => request.destroy(), withinMs).unref();
  request.once("close", () => clearTimeout(timer)).resume();
}
