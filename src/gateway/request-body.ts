import { Readable } from "node:stream";

/** The body of a call. It is opened at most once per attempt, and again only while nothing of it was sent. */
export interface RequestBody {
  open(): Readable | Uint8Array;
}

const BUFFER_BYTES = 64 * 1024;

export function bytesBody(bytes: Uint8Array): RequestBody {
  return { open: () => bytes };
}

/**
 * The body that a client sends, passed on at the pace of the replica. The source itself is never destroyed: an
 * upstream failure must not take the client's connection along, for it still gets an answer.
 *
 * @param onFirstRead called when the replica begins to take the body (`100 Continue` is due)
 */
export function streamBody(source: Readable, onFirstRead: () => void = () => undefined): RequestBody {
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    onFirstRead();
  };
  return { open: () => openStream(source, begin) };
}

function openStream(source: Readable, begin: () => void): Readable {
  source.pause();
  const onData = (chunk: Buffer) => {
    if (!body.push(chunk)) source.pause();
  };
  const onEnd = () => {
    detach();
    body.push(null);
  };
  const onClose = () => void body.destroy(new Error("the client went away"));
  const detach = () => source.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
  const body = new Readable({
    highWaterMark: BUFFER_BYTES,
    read() {
      begin();
      source.resume();
    },
    destroy(error, done) {
      detach();
      done(error);
    },
  });
  source.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  // Whoever sends the body learns of its end by the call's own events.
  body.on("error", () => undefined);
  return body;
}
