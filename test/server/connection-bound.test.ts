import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectionBound, networkOf } from "../../src/server/connection-bound.ts";
import { eventually } from "../support/eventually.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { openListener } from "./open-listener.ts";
import { serverFixture } from "./server-fixture.ts";

const MAX = 4;

/** A connection of this address; `destroyed` once it was closed. */
function socketFrom(remoteAddress: string): Socket {
  const socket = new EventEmitter() as EventEmitter & { destroyed: boolean; destroy(): void };
  socket.destroyed = false;
  socket.destroy = () => {
    socket.destroyed = true;
    socket.emit("close");
  };
  return Object.assign(socket, { remoteAddress }) as unknown as Socket;
}

/** @param waiting how many wait beside the places */
function bounded(waiting = 2) {
  let shed = 0;
  const onShed = () => {
    shed += 1;
  };
  const bound = connectionBound({ max: MAX, waiting, onShed });
  const open = (address: string) => {
    const socket = socketFrom(address);
    bound.take(socket);
    return socket;
  };
  /** A connection on which something is asked. */
  const asking = (address: string) => {
    const socket = open(address);
    return { socket, hasPlace: bound.busy(socket) };
  };
  return { bound, open, asking, shed: () => shed };
}
const closed = (sockets: readonly Socket[]) => sockets.map(({ destroyed }) => destroyed);

describe("connections beyond the bound", () => {
  it("take, with what is asked, the places of those that are idle for longest, of the address with most of them", () => {
    const { bound, open, shed } = bounded();
    const other = open("192.0.2.1");
    const many = [open("192.0.2.9"), open("192.0.2.9"), open("192.0.2.9")];
    bound.busy(many[0]!);
    bound.idle(many[0]!);
    const late = open("192.0.2.2");
    expect(closed([other, ...many, late])).toEqual([false, false, false, false, false]);
    expect(bound.busy(late)).toBe(true);
    expect(closed([other, ...many, late])).toEqual([false, false, true, false, false]);
    expect([bound.open, shed()]).toEqual([MAX, 1]);
  });

  it("break off nothing that goes on, and have no place then", () => {
    const { bound, asking } = bounded();
    const calls = ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"].map((address) => asking(address).socket);
    const { socket, hasPlace } = asking("192.0.2.4");
    expect([hasPlace, socket.destroyed]).toEqual([false, false]);
    expect(closed(calls)).toEqual([false, false, false, false]);
    bound.idle(calls[3]!);
    expect(bound.busy(socket)).toBe(true);
    expect(closed(calls)).toEqual([false, false, false, true]);
  });

  it("break off calls of an address that has more than half of all places, for others than it", () => {
    const { asking } = bounded();
    const calls = Array.from({ length: 3 }, () => asking("192.0.2.9").socket);
    asking("192.0.2.1");
    expect(asking("192.0.2.9").hasPlace).toBe(false);
    expect(asking("192.0.2.2").hasPlace).toBe(true);
    expect(closed(calls)).toEqual([true, false, false]);
    expect(asking("192.0.2.3").hasPlace).toBe(false);
  });

  it("wait, so many of them: then the first of the address with most goes", () => {
    const { bound, open } = bounded(3);
    for (let turn = 0; turn < MAX; turn += 1) bound.busy(open(`192.0.2.${turn}`));
    const waiting = ["192.0.2.8", "192.0.2.9", "192.0.2.9", "192.0.2.9"].map(open);
    expect(closed(waiting)).toEqual([false, true, false, false]);
    expect(bound.open).toBe(MAX + 3);
  });

  it("leave nothing behind", () => {
    const { bound, open } = bounded();
    for (let turn = 0; turn < 100; turn += 1) open(`192.0.2.${turn}`).destroy();
    const all = Array.from({ length: 100 }, (_, turn) => open(`192.0.2.${turn}`));
    for (const socket of all) bound.busy(socket);
    for (const socket of all) socket.destroy();
    expect(bound.open).toBe(0);
  });
});

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["", ""],
])("%s is an address of %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

/** So many connections on which nothing is asked. */
function idleConnections(port: number, count: number): Socket[] {
  const idle = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });
  for (const socket of idle) socket.on("error", () => undefined).resume();
  return idle;
}

it("connections that do nothing keep nobody out, and end no call", async () => {
  let shed = 0;
  const slow = Promise.withResolvers<ServerResponse>();
  const onShed = () => {
    shed += 1;
  };
  const port = await openListener({ maxConnections: 20, onShed }, (req, res) => {
    if (req.url === "/slow") slow.resolve(res);
    else res.end("ok");
  });
  const call = fetch(`http://127.0.0.1:${port}/slow`);
  const res = await slow.promise;
  idleConnections(port, 400);
  await eventually(
    "those beyond the bound and those that wait are closed",
    () => shed,
    (count) => count >= 401 - 20 - 128,
  );
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("ok");
  res.end("done");
  expect(await (await call).text()).toBe("done");
});

it("where every place has a call in flight others are told so, and probes are answered", async () => {
  const held: ServerResponse[] = [];
  let shed = 0;
  const onShed = () => {
    shed += 1;
  };
  const isCall = ({ url }: IncomingMessage) => url?.startsWith("/fn/") === true;
  const gateway = { isCall, handle: () => undefined, handleUpgrade: () => undefined };
  const port = await openListener({ gateway, maxConnections: 3, onShed }, (req, res) => {
    if (req.url === "/slow") held.push(res);
    else res.end("ok");
  });
  const url = `http://127.0.0.1:${port}`;
  const calls = Array.from({ length: 3 }, () => fetch(`${url}/slow`));
  await eventually(
    "the calls are in flight",
    () => held.length,
    (count) => count === 3,
  );
  for (const path of ["/v1/whoami", "/fn/demo/hello", "/healthzz"]) {
    const answer = await fetch(url + path);
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: "connections_busy" }]);
  }
  const upgrade = "GET /fn/a/b HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  expect(await rawExchange(port, upgrade)).toContain("connections_busy");
  for (const path of ["/healthz", "/readyz?verbose"]) expect(await (await fetch(url + path)).text()).toBe("ok");
  expect(shed).toBe(4);
  for (const res of held) res.end("done");
  for (const call of calls) expect(await (await call).text()).toBe("done");
  expect(await (await fetch(`${url}/v1/whoami`)).text()).toBe("ok");
});

it("a server tells how many connections there are, and says once that there were too many", async () => {
  const warned: { fields: object; message: string }[] = [];
  const log = { warn: (fields: object, message: string) => warned.push({ fields, message }), error: () => undefined };
  const { url } = await serverFixture({ maxConnections: 5, log: log as never });
  idleConnections(Number(new URL(url).port), 200);
  const text = await eventually(
    "all of them are counted",
    async () => (await fetch(`${url}/metrics`)).text(),
    (metrics) => Number(/^sless_http_connections_shed_total (\d+)$/m.exec(metrics)?.[1]) >= 200 - 5 - 128,
  );
  expect(Number(/^sless_http_connections (\d+)$/m.exec(text)?.[1])).toBeLessThanOrEqual(5 + 128);
  expect(warned.filter(({ message }) => /too many connections/.test(message))).toHaveLength(1);
});
