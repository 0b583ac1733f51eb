import { writeFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import { type ClientOptions, openKubernetesClient } from "../../src/kubernetes/index.ts";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { httpServer } from "../support/http-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** An HTTPS server in place of an API server, which counts TLS handshakes and keeps what was asked. */
export async function fakeApiServer(handler: RequestListener = ok, tls: ServerOptions = {}) {
  const certificates = makeCertificates();
  const asked: IncomingMessage[] = [];
  let handshakes = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    asked.push(request);
    handler(request, response);
  };
  const server = createServer({ key: certificates.key, cert: certificates.cert, ...tls }, listener);
  server.on("secureConnection", () => {
    handshakes += 1;
  });
  const running = await httpServer(listener, server);
  const folder = await temporaryFolder();
  return {
    ...running,
    folder,
    certificates,
    url: `https://127.0.0.1:${running.port}`,
    asked,
    handshakes: () => handshakes,
    authorizations: () => asked.map(({ headers }) => headers.authorization),
    tlsServer: server,
  };
}

export type FakeApiServer = Awaited<ReturnType<typeof fakeApiServer>>;

export function ok(_request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("content-type", "application/json");
  response.end('{"kind":"Status","status":"Success"}');
}

export function fails(status: number, body: object, headers: Record<string, string> = {}): RequestListener {
  return (_request, response) => void response.writeHead(status, headers).end(JSON.stringify(body));
}

/** Of the client's certificate, which it must have sent. */
export function fingerprintOf(request: IncomingMessage): string {
  return (request.socket as TLSSocket).getPeerCertificate().fingerprint256;
}

/** Writes a kubeconfig for the server; its path. */
export async function writeKubeconfig(
  { folder, url, certificates }: Pick<FakeApiServer, "folder" | "url"> & { certificates: Pick<Certificates, "ca"> },
  user: object,
  cluster: object = { "certificate-authority-data": base64(certificates.ca) },
): Promise<string> {
  const file = join(folder, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url, ...cluster } }],
    users: [{ name: "ada", user }],
    contexts: [{ name: "here", context: { cluster: "test", user: "ada", namespace: "demo" } }],
    "current-context": "here",
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** A client that is closed when the test ends. */
export function clientOf(file: string, options: Partial<ClientOptions> = {}) {
  const client = openKubernetesClient({ from: { file }, ...options });
  onTestFinished(() => client.close());
  return client;
}
