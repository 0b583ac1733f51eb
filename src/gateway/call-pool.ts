import { Pool } from "undici";

const CONNECT_TIMEOUT_MS = 5_000;

export interface CallPoolOptions {
  /** Shorter than the idle time of the server, so that this side, not the server, closes idle connections. */
  readonly keepAliveTimeout: number;
  /** Of an answer, bytes. */
  readonly maxHeaderSize: number;
}

/** Kept-alive connections that calls go over. The gateway's own budget is the only time limit of a call. */
export function callPool(origin: string, options: CallPoolOptions): Pool {
  return new Pool(origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    pipelining: 1,
    ...options,
  });
}
