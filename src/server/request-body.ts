import type { IncomingMessage } from "node:http";
import { limitText, SlessError } from "../errors/index.ts";

export interface BodyLimits {
  /** What it is, for who sent too much; default "The archive". */
  readonly what?: string;
  readonly maxBytes: number;
  /** The body is given up when nothing comes for so long. */
  readonly idleMs: number;
  /** … or when it is not all there by then. */
  readonly totalMs: number;
  /** … or when it comes slower than this, after a time in which it need not come at all. */
  readonly pace?: { readonly bytesPerSecond: number; readonly afterMs: number };
  /** … or when it is wanted no more: its reason, a SlessError, is what reading throws. */
  readonly signal?: AbortSignal;
}

/**
 * A body piece by piece; no more is taken from the client than is read. What comes after a refusal is left to the
 * listener, which throws it away once the answer is sent.
 *
 * @throws SlessError `too_large`, at once when its head says so; `invalid_request` when it stalls or breaks off
 */
export async function* requestBody(request: IncomingMessage, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  // Whoever had to wait for his turn may have gone.
  if (request.destroyed) throw refusal("its body broke off");
  const { totalMs, signal } = limits;
  const incoming = listen(request, limits);
  const total = setTimeout(incoming.fail, totalMs, refusal(`its body took longer than ${totalMs / 1000} s`));
  const onAbort = () => incoming.fail(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  const next = patiently(incoming, limits);
  try {
    for (let chunk = await next(); chunk; chunk = await next()) yield chunk;
  } finally {
    clearTimeout(total);
    signal?.removeEventListener("abort", onAbort);
    incoming.stop();
  }
}

type Incoming = ReturnType<typeof listen>;

/** Reads the next chunk. Only while we wait for the client time counts: what the reader takes is not his. */
function patiently(incoming: Incoming, { idleMs, pace }: BodyLimits): () => Promise<Buffer | undefined> {
  let waitedMs = 0;
  let size = 0;
  const restOfPace = () => (pace ? pace.afterMs + (size * 1000) / pace.bytesPerSecond - waitedMs : idleMs);
  return async () => {
    const rest = restOfPace();
    const fault = rest < idleMs ? `it came slower than ${pace?.bytesPerSecond} bytes a second` : undefined;
    const end = refusal(fault ?? `nothing came for ${idleMs / 1000} s`);
    const timer = setTimeout(incoming.fail, Math.max(0, Math.min(idleMs, rest)), end);
    const began = performance.now();
    try {
      const chunk = await incoming.next();
      size += chunk?.length ?? 0;
      return chunk;
    } finally {
      waitedMs += performance.now() - began;
      clearTimeout(timer);
    }
  };
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
  const tooLarge = () => new SlessError("too_large", { what, limit: limitText(maxBytes) });
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) finish(tooLarge());
    chunks.push(chunk);
    request.pause();
    wake();
  };
  const ended = () => finish();
  const brokeOff = () => finish(refusal("its body broke off"));
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) finish(tooLarge());
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
