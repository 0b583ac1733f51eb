import type { IncomingMessage } from "node:http";
import { SlessError } from "../errors/index.ts";

export interface BodyLimits {
  /** What it is, for who sent too much; default "The archive". */
  readonly what?: string;
  readonly maxBytes: number;
  /** The body is given up when nothing comes for so long. */
  readonly idleMs: number;
  /** … or when it is not all there by then. */
  readonly totalMs: number;
}

/**
 * A body piece by piece; no more is taken from the client than is read. What comes after a refusal is thrown away, so
 * that the client gets to read the answer.
 *
 * @throws SlessError `too_large`, `invalid_request` when it stalls or breaks off
 */
export async function* requestBody(request: IncomingMessage, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  // Whoever had to wait for his turn may have gone.
  if (request.destroyed) throw refusal("its body broke off");
  const { idleMs, totalMs } = limits;
  const incoming = listen(request, limits);
  const total = setTimeout(incoming.fail, totalMs, refusal(`its body took longer than ${totalMs / 1000} s`));
  // Only while we wait for the client: the time that the reader takes is not his.
  const next = async () => {
    const idle = setTimeout(incoming.fail, idleMs, refusal(`nothing came for ${idleMs / 1000} s`));
    return incoming.next().finally(() => clearTimeout(idle));
  };
  try {
    for (let chunk = await next(); chunk; chunk = await next()) yield chunk;
  } finally {
    clearTimeout(total);
    incoming.stop();
    if (!request.readableEnded) throwAwayRest(request, idleMs);
  }
}

/** The chunks of a request, one at a time; it is paused while nobody asks. */
function listen(request: IncomingMessage, { maxBytes, what = "The archive" }: BodyLimits) {
  const chunks: Buffer[] = [];
  let size = 0;
  let end: { readonly error?: SlessError } | undefined;
  let wake = () => {};
  const finish = (error?: SlessError) => {
    end ??= error ? { error } : {};
    wake();
  };
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) finish(new SlessError("too_large", { what, limit: `${maxBytes} bytes` }));
    chunks.push(chunk);
    request.pause();
    wake();
  };
  const ended = () => finish();
  const brokeOff = () => finish(refusal("its body broke off"));
  // Not removed: a connection may fail later too.
  request.once("error", brokeOff);
  request.pause().on("data", take).once("end", ended).once("close", brokeOff);
  return {
    fail: finish,
    async next(): Promise<Buffer | undefined> {
      while (chunks.length === 0 && !end) {
        const news = Promise.withResolvers<void>();
        wake = news.resolve;
        request.resume();
        await news.promise;
      }
      if (end?.error) throw end.error;
      return chunks.shift();
    },
    stop: () => void request.off("data", take).off("end", ended).off("close", brokeOff),
  };
}

function refusal(cause: string): SlessError {
  return new SlessError("invalid_request", { cause });
}

/** Not for ever: a body without an end would keep its connection. */
function throwAwayRest(request: IncomingMessage, withinMs: number): void {
  const timer = setTimeout(() => request.destroy(), withinMs).unref();
  request.once("close", () => clearTimeout(timer)).resume();
}
