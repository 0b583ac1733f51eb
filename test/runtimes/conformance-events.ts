import { createHash, randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { type Call, send } from "./exchange.ts";
import type { Subject } from "./subject.ts";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const JSON_TYPE = { "content-type": "application/json" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const map = (event: unknown) => ({ kind: "map", event });
const text = (event: string) => ({ kind: "string", event });
const bytes = (event: Uint8Array) => ({ kind: "bytes", length: event.length, sha256: sha256(event) });
const BINARY = Buffer.from([0, 255, 254, 13, 10, 0, 200]);

const EVENTS: Record<string, [Call, unknown]> = {
  "a JSON body is the event": [
    { headers: JSON_TYPE, body: '{"name":"Ada","n":[1,2.5,null]}' },
    map({ name: "Ada", n: [1, 2.5, null] }),
  ],
  "a JSON content type may have parameters": [
    { headers: { "content-type": "Application/JSON; charset=utf-8" }, body: "[1]" },
    { kind: "list", event: [1] },
  ],
  "a +json content type is JSON": [
    { headers: { "content-type": "application/vnd.api+json" }, body: "true" },
    { kind: "boolean", event: true },
  ],
  "JSON null is null": [
    { headers: JSON_TYPE, body: "null" },
    { kind: "null", event: null },
  ],
  "a byte order mark before JSON is no fault": [{ headers: JSON_TYPE, body: "\ufeff{}" }, map({})],
  "JSON without a content type is read": [{ body: '{"a":1}' }, map({ a: 1 })],
  "JSON under curl's form type is read": [{ headers: FORM, body: '{"name":"Ada"}' }, map({ name: "Ada" })],
  "a form is a map of strings": [
    { headers: FORM, body: "name=Ada+L%C3%B6w&n=1&n=2&empty=" },
    map({ name: "Ada Löw", n: "2", empty: "" }),
  ],
  "text is a string": [{ headers: { "content-type": "text/plain" }, body: "grüße" }, text("grüße")],
  "text that looks like JSON stays text": [{ headers: { "content-type": "text/csv" }, body: "1" }, text("1")],
  "text in Latin-1 is decoded": [
    { headers: { "content-type": "text/plain; charset=ISO-8859-1" }, body: Buffer.from("grüße", "latin1") },
    text("grüße"),
  ],
  "another type is bytes": [{ headers: { "content-type": "application/octet-stream" }, body: BINARY }, bytes(BINARY)],
  "bytes without a content type are bytes": [{ body: BINARY }, bytes(BINARY)],
  "no body is the query": [
    { method: "GET", path: "/describe?name=Ada%20L&n=1&n=2&flag" },
    map({ name: "Ada L", n: "2", flag: "" }),
  ],
  "no body and no query is an empty map": [{ method: "GET", path: "/describe" }, map({})],
  "an empty body of JSON type is the query": [{ headers: JSON_TYPE, path: "/describe?a=b", body: "" }, map({ a: "b" })],
  "with a body the query is no event": [{ path: "/describe?a=b", body: "{}" }, map({})],
};

const INVALID: Record<string, Buffer> = {
  "text that is none": Buffer.from('{"name": Ada}'),
  "a constant that JSON does not know": Buffer.from('{"n": NaN}'),
  "two values": Buffer.from("{}{}"),
  "bytes that are no UTF-8": Buffer.from([0x22, 0xff, 0x22]),
};

/** How a body and a query become the event. */
export function eventCases(subject: Subject): void {
  it.each(Object.entries(EVENTS))("%s", async (_name, [call, expected]) => {
    const reply = await send(subject.shared().origin, { path: "/describe", ...call });
    expect(reply.json).toEqual(expected);
  });

  it.each(Object.entries(INVALID))("a JSON body with %s is the caller's fault", async (_name, body) => {
    const reply = await send(subject.shared().origin, { path: "/describe", headers: JSON_TYPE, body });
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ component: "runtime", reason: "invalid_event", requestId: expect.any(String) });
    expect((reply.json as { error: string }).error).toMatch(/not valid JSON/);
  });

  it("a body nested without end is refused or read, and the replica goes on", async () => {
    const body = "[".repeat(200_000) + "]".repeat(200_000);
    const reply = await send(subject.shared().origin, { path: "/log", headers: JSON_TYPE, body });
    expect([200, 400]).toContain(reply.status);
    expect((await send(subject.shared().origin, { path: "/describe", body: "{}" })).status).toBe(200);
  });

  it("a large binary body arrives whole", async () => {
    const body = randomBytes(5 * 1024 * 1024 + 3);
    const reply = await send(subject.shared().origin, {
      path: "/describe",
      headers: { "content-type": "image/png" },
      body,
    });
    expect(reply.json).toEqual(bytes(body));
  });

  it("a chunked body of unknown size arrives whole", async () => {
    const parts = [randomBytes(70_000), randomBytes(1), randomBytes(130_000)];
    async function* body() {
      yield* parts;
    }
    const reply = await send(subject.shared().origin, { path: "/describe", body: body() });
    expect(reply.json).toEqual(bytes(Buffer.concat(parts)));
  });
}
