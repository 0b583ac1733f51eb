import { expect, it } from "vitest";
import { localGuard } from "../../src/server/index.ts";

const guard = localGuard(["sless.local"]);
const code = (host: string | undefined, origin: string | undefined, isCall = false) =>
  guard.refusal({ ...(host === undefined ? {} : { host }), ...(origin === undefined ? {} : { origin }) }, isCall)?.code;

it.each([
  "127.0.0.1",
  "127.0.0.1:9090",
  "localhost",
  "LOCALHOST:9090",
  "[::1]",
  "[::1]:9090",
  "sless.local",
  "sless.local:80",
])("the host %s is this machine", (host) => {
  expect([code(host, undefined), code(host, undefined, true)]).toEqual([undefined, undefined]);
});

it.each([
  undefined,
  "",
  "evil.example",
  "evil.example:9090",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "localhost:9090.evil.example",
  "localhost:9090@evil.example",
  "evil@localhost",
  "localhost, evil.example",
  "192.168.0.1",
  "0.0.0.0:9090",
  "[::ffff:7f00:1]",
  "localhost\t",
])("the host %j is foreign, for calls too", (host) => {
  expect([code(host, undefined), code(host, undefined, true)]).toEqual(["foreign_host", "foreign_host"]);
});

it.each(["http://localhost:9090", "https://localhost:9090", "HTTP://LOCALHOST:9090"])(
  "the origin %s is its own",
  (origin) => {
    expect(code("localhost:9090", origin)).toBeUndefined();
  },
);

it.each([
  "http://evil.example",
  "null",
  "http://localhost:3000",
  "http://localhost",
  "http://127.0.0.1:9090",
  "http://localhost:9090.evil.example",
  "",
])("a page of %j may call functions and nothing else", (origin) => {
  expect([code("localhost:9090", origin), code("localhost:9090", origin, true)]).toEqual(["foreign_origin", undefined]);
});
