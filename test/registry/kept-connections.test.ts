import { expect, it } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { MEDIA_TYPES, registryClient } from "../../src/registry/index.ts";
import { httpServer } from "../support/http-server.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

it("looks for many images over the connections that it has, found or not", async () => {
  const { port, server } = await httpServer((request, response) => {
    const isThere = request.url?.endsWith("/there");
    const headers = { "docker-content-digest": DIGEST, "content-type": MEDIA_TYPES.ociManifest, "content-length": 9 };
    response.writeHead(isThere ? 200 : 404, headers).end();
  });
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  const client = registryClient({ host: `127.0.0.1:${port}`, plainHttp: true, clock: systemClock, concurrency: 2 });
  for (let look = 0; look < 10; look += 1) {
    expect(await client.manifestDigest("one", "there")).toBe(DIGEST);
    expect(await client.manifestDigest("one", "gone")).toBeUndefined();
  }
  await client.close();
  expect(connections).toBeLessThanOrEqual(2);
});

it("a server that sends a body where none belongs is asked again, over a connection that is clean", async () => {
  const { port } = await httpServer((request, response) => {
    const isThere = request.url?.endsWith("/there");
    const head = `HTTP/1.1 ${isThere ? "200 OK" : "404 Not Found"}\r\ncontent-length: 9\r\n`;
    const about = `docker-content-digest: ${DIGEST}\r\ncontent-type: ${MEDIA_TYPES.ociManifest}\r\n\r\n`;
    // Node's own server would leave the body out.
    response.socket!.write(`${head}${about}not here!`);
  });
  const client = registryClient({ host: `127.0.0.1:${port}`, plainHttp: true, clock: systemClock, concurrency: 2 });
  for (let look = 0; look < 3; look += 1) {
    expect(await client.manifestDigest("one", "there")).toBe(DIGEST);
    expect(await client.manifestDigest("one", "gone")).toBeUndefined();
  }
  await client.close();
});
