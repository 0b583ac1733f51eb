import { type AddressInfo, connect, createServer } from "node:net";
import { onTestFinished } from "vitest";

/** A way to a server of this machine that ends each of its first `cuts` connections after `afterBytes` of what is sent. */
export async function cutConnections(host: string, cuts: number, afterBytes: number): Promise<string> {
  let left = cuts;
  const [name, port] = host.split(":");
  const server = createServer((client) => {
    const upstream = connect(Number(port), name);
    let sent = 0;
    client.on("data", (chunk: Buffer) => {
      sent += chunk.byteLength;
      upstream.write(chunk);
      if (left <= 0 || sent < afterBytes) return;
      left -= 1;
      // What came so far still arrives; the answer does not.
      upstream.end();
      client.destroy();
    });
    client.on("close", () => upstream.end());
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    upstream.on("data", (chunk) => void client.write(chunk));
    upstream.on("close", () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
