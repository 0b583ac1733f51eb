import { spawn } from "node:child_process";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { basename, dirname } from "node:path";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { isolatedGitEnvironment } from "./git-repository.ts";
import { bodyOf, httpServer } from "./http-server.ts";

/** What becomes of an answer of Git on its way. */
export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Uint8Array }
  /** Nothing is ever answered. */
  | { readonly hang: true; readonly onHang?: () => void }
  /** So many bytes of the body come, then `onSent` is called and the connection is held, or cut. */
  | { readonly after: number; readonly onSent?: () => void }
  | { readonly change: (body: Buffer) => Uint8Array };

export interface SeenRequest {
  /** `GET /demo.git/info/refs?service=git-upload-pack`. */
  readonly line: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface GitHttpServer {
  /** Of the repository. */
  readonly url: string;
  readonly origin: string;
  readonly ca: string | undefined;
  /** Requests since the last look. */
  requests(): SeenRequest[];
  /** Decides about every answer from now on. */
  setFault(fault: ((request: SeenRequest) => Fault | undefined) | undefined): void;
  /** Bytes of the last answer's body. */
  lastSize(): number;
  kill(): Promise<void>;
}

export interface GitHttpServerOptions {
  /** Who may read; default all. */
  readonly auth?: { readonly username: string; readonly password: string };
  readonly tls?: boolean;
  /** Passes no `Git-Protocol` on, as servers of before 2018 do. */
  readonly isOld?: boolean;
}

/** `git http-backend` behind an HTTP server on a free loopback port that goes when the test ends. */
export async function gitHttpServer(dir: string, options: GitHttpServerOptions = {}): Promise<GitHttpServer> {
  const certificates: Certificates | undefined = options.tls ? makeCertificates() : undefined;
  let seen: SeenRequest[] = [];
  let faultOf: ((request: SeenRequest) => Fault | undefined) | undefined;
  let lastSize = 0;

  const listener: RequestListener = (request, response) => {
    void answer(request, response).catch(() => response.destroy());
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { authorization } = request.headers;
    const one = { line: `${request.method} ${request.url}`, authorization, body: body.toString("latin1") };
    seen.push(one);
    const fault = faultOf?.(one);
    if (fault && "hang" in fault) return fault.onHang?.();
    if (fault && "status" in fault) return void response.writeHead(fault.status, fault.headers).end(fault.body);
    if (options.auth && authorization !== basicAuth(options.auth))
      return void response.writeHead(401, { "www-authenticate": "Basic" }).end("who are you?");
    const output = await runBackend(dir, request, body, options.isOld ?? false);
    const changed = fault && "change" in fault ? Buffer.from(fault.change(output.body)) : output.body;
    lastSize = changed.length;
    response.writeHead(output.status, output.headers);
    if (!fault || !("after" in fault)) return void response.end(changed);
    await new Promise<void>((resolve) => response.write(changed.subarray(0, fault.after), () => resolve()));
    if (fault.onSent) fault.onSent();
    else response.destroy();
  }

  const tlsServer = certificates && createTlsServer({ cert: certificates.cert, key: certificates.key }, listener);
  const running = await httpServer(listener, tlsServer);
  const origin = certificates ? running.origin.replace("http:", "https:") : running.origin;
  return {
    url: `${origin}/${basename(dir)}`,
    origin,
    ca: certificates?.ca,
    requests() {
      const before = seen;
      seen = [];
      return before;
    },
    setFault(fault) {
      faultOf = fault;
    },
    lastSize: () => lastSize,
    kill: running.kill,
  };
}

export function basicAuth({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

interface Output {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** An answer of `git http-backend` about the bare repository `dir`. */
export async function runBackend(dir: string, request: IncomingMessage, body: Buffer, isOld: boolean): Promise<Output> {
  const { pathname, search } = new URL(request.url!, "http://test");
  const protocol = request.headers["git-protocol"];
  const child = spawn("git", ["http-backend"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: {
      ...isolatedGitEnvironment(dir),
      GIT_PROJECT_ROOT: dirname(dir),
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method!,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      ...(typeof protocol === "string" && !isOld ? { GIT_PROTOCOL: protocol } : {}),
    },
  });
  child.stdin.on("error", () => {});
  child.stdin.end(body);
  const output = Buffer.concat(await child.stdout.toArray());
  const end = output.indexOf("\r\n\r\n");
  const headers = Object.fromEntries(
    output
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { status: Number.parseInt(headers.status ?? "200", 10), headers, body: output.subarray(end + 4) };
}
