import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { GitHttp } from "../remote/index.ts";

/** A server on loopback over which one `git fetch` reaches one repository. */
export interface Bridge {
  readonly url: string;
  /** A header that every request must have; it is secret, and good for this bridge alone. */
  readonly header: string;
  /** What the repository's server or the way to it was at fault for first. */
  failure(): unknown;
  close(): Promise<void>;
}

const HEADER = "x-sless-fetch";
/** What git asks for: commits that it wants and has. */
const REQUEST_MAX_BYTES = 16 << 20;

/**
 * Git speaks to this in place of the repository's server. So certificates, redirects, addresses and limits are judged in
 * one place for every kind of fetch, and git never learns a credential.
 */
export async function openBridge(http: GitHttp, signal: AbortSignal): Promise<Bridge> {
  const secret = randomBytes(32).toString("hex");
  let failure: unknown;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { "git-protocol": protocol, "content-encoding": encoding } = request.headers;
    const asked = { signal, protocol: typeof protocol === "string" ? protocol : undefined };
    const kind = kindOf(request);
    if (kind === undefined || !isEqual(request.headers[HEADER], secret)) return void response.writeHead(404).end();
    const body =
      kind === "advertisement"
        ? await http.discover(asked)
        : await http.uploadPack({
            ...asked,
            body: await bodyOf(request),
            ...(encoding === undefined ? {} : { encoding }),
          });
    response.writeHead(200, { "content-type": `application/x-git-upload-pack-${kind}` });
    await pipeline(Readable.from(body, { objectMode: false }), response);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // That git went away itself is not what is at fault.
      if (!request.destroyed || !isAbort(error)) failure ??= error;
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    header: `${HEADER}: ${secret}`,
    failure: () => failure,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function kindOf({ method, url }: IncomingMessage): "advertisement" | "result" | undefined {
  if (method === "GET" && url === "/info/refs?service=git-upload-pack") return "advertisement";
  return method === "POST" && url === "/git-upload-pack" ? "result" : undefined;
}

function isEqual(given: string | string[] | undefined, secret: string): boolean {
  const bytes = Buffer.from(String(given));
  return bytes.length === secret.length && timingSafeEqual(bytes, Buffer.from(secret));
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > REQUEST_MAX_BYTES) throw new Error("git asks for too much");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
