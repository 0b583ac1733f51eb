import { randomBytes } from "node:crypto";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock, type TimerClock } from "../../src/controller/clock.ts";
import { digestOf, registryClient } from "../../src/registry/index.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { type OpenedRegistry, openRegistryKind, REGISTRY_KINDS } from "../support/registry-kinds.ts";

/** Who waits before a try does not. */
const impatient: TimerClock = { ...systemClock, setTimer: (_, act) => systemClock.setTimer(0, act) };

interface Link {
  readonly host: string;
  /** Bytes that went there, and that came back. */
  readonly passed: { sent: number; answered: number };
  close(): void;
}

/** A way to a server on which the first connection breaks when exactly so many bytes went there, or came back. */
async function breakingAt(host: string, at: { readonly sent?: number; readonly answered?: number }): Promise<Link> {
  const [name, port] = host.split(":");
  const passed = { sent: 0, answered: 0 };
  let isBroken = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), name);
    const pass = (way: "sent" | "answered", to: Socket) => (chunk: Buffer) => {
      const limit = isBroken ? undefined : at[way];
      const rest = limit === undefined ? chunk.byteLength : limit - passed[way];
      passed[way] += chunk.byteLength;
      to.write(chunk.subarray(0, rest));
      if (limit === undefined || rest > chunk.byteLength) return;
      isBroken = true;
      // What came so far still arrives.
      upstream.end();
      client.destroy();
    };
    client.on("data", pass("sent", upstream));
    upstream.on("data", pass("answered", client));
    client.on("close", () => upstream.end()).on("error", () => upstream.destroy());
    upstream.on("close", () => client.end()).on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, passed, close: () => void server.close() };
}

const KINDS = REGISTRY_KINDS.filter(([, { login }]) => login === "none");
const BLOB_BYTES = 200_000;

for (const [name, kind] of KINDS)
  describeWithServers(`a push to ${name}`, () => {
    let registry: OpenedRegistry;
    beforeAll(async () => {
      registry = await openRegistryKind(kind);
    });
    afterAll(() => registry?.close());

    /** @returns what went over the link, whatever became of the push */
    async function push(at: { readonly sent?: number; readonly answered?: number }): Promise<Link["passed"]> {
      const link = await breakingAt(registry.host, at);
      const client = registryClient({ host: link.host, plainHttp: true, clock: impatient });
      const bytes = randomBytes(BLOB_BYTES);
      const blob = { digest: digestOf(bytes), bytes };
      try {
        await client.putBlob("team/cut", blob);
        expect(await registry.client.hasBlob("team/cut", blob.digest)).toBe(true);
      } catch (error) {
        throw new Error(`broken after ${JSON.stringify(at)}`, { cause: error });
      } finally {
        await client.close();
        link.close();
      }
      return link.passed;
    }

    it("arrives wherever its connection breaks", async () => {
      const { sent, answered } = await push({});
      const head = sent - BLOB_BYTES;
      const points = [
        ...every(61, head).map((bytes) => ({ sent: bytes })),
        // What comes of the blob is nothing, one byte, two.
        ...[-1, 0, 1, 2, 65_536, 65_537, BLOB_BYTES - 1, BLOB_BYTES].map((bytes) => ({ sent: head + bytes })),
        ...every(61, answered).map((bytes) => ({ answered: bytes })),
      ];
      for (const at of points) await push(at);
    });
  });

function every(step: number, end: number): number[] {
  return Array.from({ length: Math.ceil(end / step) }, (_, index) => index * step);
}
