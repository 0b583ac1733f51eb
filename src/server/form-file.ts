import { SlessError } from "../errors/index.ts";

/** Of all headers of one part. */
const HEADERS_MAX_BYTES = 16 << 10;
const CRLF = "\r\n";

/**
 * The first file of a form (`multipart/form-data`), piece by piece: the first part with a file name. All of the body is
 * read, also what follows the file, unless it is refused or nobody goes on with it; then the body is ended.
 *
 * @throws SlessError `invalid_request` without a file, or for what is no form; and what reading the body throws
 */
export async function* formFile(body: AsyncIterable<Uint8Array>, contentType: string): AsyncGenerator<Uint8Array> {
  const text = createText(body, boundaryOf(contentType));
  try {
    await text.skipPart();
    while (await text.nextPart()) {
      if (!isFile(await text.headers())) {
        await text.skipPart();
        continue;
      }
      yield* text.part();
      await text.skipAll();
      return;
    }
    throw refusal("the form holds no file");
  } finally {
    await text.close();
  }
}

function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw refusal("its content type names no boundary of the form");
  return boundary;
}

function isFile(headers: string): boolean {
  return /^content-disposition:.*;\s*filename\*?=/im.test(headers);
}

function createText(body: AsyncIterable<Uint8Array>, boundary: string) {
  const chunks = body[Symbol.asyncIterator]();
  const delimiter = Buffer.from(`${CRLF}--${boundary}`);
  // The first delimiter may stand at the very beginning.
  let held: Buffer = Buffer.from(CRLF);

  async function more(): Promise<boolean> {
    const { done, value } = await chunks.next();
    if (!done) held = Buffer.concat([held, value]);
    return !done;
  }

  async function hold(count: number): Promise<void> {
    while (held.length < count) if (!(await more())) throw refusal("the form ends too early");
  }

  function take(count: number): Buffer {
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  }

  /** What stands before the next delimiter, which is taken too. */
  async function* part(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = held.indexOf(delimiter);
      // The end of what is held may be the beginning of a delimiter.
      const sure = at < 0 ? Math.max(0, held.length - delimiter.length + 1) : at;
      if (sure > 0) yield take(sure);
      if (at >= 0) {
        take(delimiter.length);
        return;
      }
      await hold(held.length + 1);
    }
  }

  return {
    part,
    async skipPart() {
      for await (const _ of part());
    },
    /** After a delimiter: whether another part follows. */
    async nextPart(): Promise<boolean> {
      await hold(2);
      const mark = take(2).toString("latin1");
      if (mark === "--") return false;
      if (mark === CRLF) return true;
      throw refusal("the form cannot be read: its boundary is no line");
    },
    async headers(): Promise<string> {
      // A part without headers begins with the empty line.
      const end = `${CRLF}${CRLF}`;
      held = Buffer.concat([Buffer.from(CRLF), held]);
      while (!held.includes(end)) {
        if (held.length > HEADERS_MAX_BYTES)
          throw refusal("the form cannot be read: the headers of a part have no end");
        await hold(held.length + 1);
      }
      return take(held.indexOf(end) + end.length).toString("latin1");
    },
    async skipAll() {
      for (;;) {
        held = Buffer.alloc(0);
        if (!(await more())) return;
      }
    },
    /** No more is wanted of the body: what it holds open goes. */
    async close() {
      await chunks.return?.();
    },
  };
}

function refusal(cause: string): SlessError {
  return new SlessError("invalid_request", { cause });
}
