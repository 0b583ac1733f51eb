import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectionBound, networkOf } from "../../src/server/connection-bound.ts";
import { eventually } from "../support/eventually.ts";
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

function bounded() {
  let shed = 0;
  const onShed = () => {
    shed += 1;
  };
  const bound = connectionBound({ max: MAX, onShed });
  const open = (address: string, isBusy = false) => {
    const socket = socketFrom(address);
    bound.take(socket);
    if (isBusy) bound.busy(socket);
    return socket;
  };
  return { bound, open, shed: () => shed };
}
const closed = (sockets: readonly Socket[]) => sockets.map(({ destroyed }) => destroyed);

describe("connections beyond the bound", () => {
  it("take the places of those that are idle for longest, of the address with most of them", () => {
    const { bound, open, shed } = bounded();
    const other = open("192.0.2.1");
    const many = [open("192.0.2.9"), open("192.0.2.9"), open("192.0.2.9")];
    bound.busy(many[0]!);
    bound.idle(many[0]!);
    open("192.0.2.2");
    expect(closed([other, ...many])).toEqual([false, false, true, false]);
    expect([bound.open, shed()]).toEqual([MAX, 1]);
  });

  it("break off nothing that goes on, and are closed themselves", () => {
    const { bound, open } = bounded();
    const calls = ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"].map((address) => open(address, true));
    expect(open("192.0.2.4").destroyed).toBe(true);
    expect(closed(calls)).toEqual([false, false, false, false]);
    bound.idle(calls[3]!);
    expect(open("192.0.2.4").destroyed).toBe(false);
    expect(closed(calls)).toEqual([false, false, false, true]);
  });

  it("break off calls of an address that has more than half of all places, for others than it", () => {
    const { open } = bounded();
    const calls = Array.from({ length: 3 }, () => open("192.0.2.9", true));
    open("192.0.2.1", true);
    expect(open("192.0.2.9").destroyed).toBe(true);
    expect(open("192.0.2.2", true).destroyed).toBe(false);
    expect(closed(calls)).toEqual([true, false, false]);
    expect(open("192.0.2.3").destroyed).toBe(true);
  });

  it("leave nothing behind", () => {
    const { bound, open } = bounded();
    for (let turn = 0; turn < 100; turn += 1) open(`192.0.2.${turn}`).destroy();
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
  const idle = Array.from({ length: 200 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });
  for (const socket of idle) socket.resume();
  await eventually(
    "those beyond the bound are closed",
    () => shed,
    (count) => count >= 181,
  );
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("ok");
  res.end("done");
  expect(await (await call).text()).toBe("done");
});

it("a server tells how many connections there are, and says once that there were too many", async () => {
  const warned: { fields: object; message: string }[] = [];
  const log = { warn: (fields: object, message: string) => warned.push({ fields, message }), error: () => undefined };
  const { url } = await serverFixture({ maxConnections: 5, log: log as never });
  const idle = Array.from({ length: 50 }, () => connect(Number(new URL(url).port), "127.0.0.1"));
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });
  for (const socket of idle) socket.on("error", () => undefined).resume();
  const text = await eventually(
    "all of them are counted",
    async () => (await fetch(`${url}/metrics`)).text(),
    (metrics) => Number(/^sless_http_connections_shed_total (\d+)$/m.exec(metrics)?.[1]) >= 45,
  );
  expect(Number(/^sless_http_connections (\d+)$/m.exec(text)?.[1])).toBeLessThanOrEqual(5);
  expect(warned.filter(({ message }) => /too many connections/.test(message))).toHaveLength(1);
});
