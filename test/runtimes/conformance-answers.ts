import { expect, it } from "vitest";
import { act, send } from "./exchange.ts";
import { hasWritten } from "./replica.ts";
import type { Subject } from "./subject.ts";

const JSON_TYPE = "application/json";
const TEXT = "text/plain; charset=utf-8";
const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, index) => index));

interface Expected {
  readonly status: number;
  readonly type?: string;
  readonly body: string | Buffer;
  readonly headers?: Record<string, unknown>;
}

const ECHOED: Record<string, [unknown, Expected]> = {
  "a map is JSON": [{ a: [1, "ü"] }, { status: 200, type: JSON_TYPE, body: '{"a":[1,"ü"]}' }],
  "JSON is not escaped for HTML": [{ a: "<&>" }, { status: 200, type: JSON_TYPE, body: '{"a":"<&>"}' }],
  "an empty map is JSON": [{}, { status: 200, type: JSON_TYPE, body: "{}" }],
  "false is JSON": [false, { status: 200, type: JSON_TYPE, body: "false" }],
  "zero is JSON": [0, { status: 200, type: JSON_TYPE, body: "0" }],
  "a string is text": ["hi", { status: 200, type: TEXT, body: "hi" }],
  "an empty string is text": ["", { status: 200, type: TEXT, body: "" }],
  "null is 204": [null, { status: 204, body: "" }],
  "a map with statusCode decides": [
    { statusCode: 418, headers: { "Content-Type": "text/x-tea", "x-a": "b" }, body: "tea" },
    { status: 418, type: "text/x-tea", body: "tea", headers: { "x-a": "b" } },
  ],
  "statusCode alone is an empty answer": [
    { statusCode: 202 },
    { status: 202, body: "", headers: { "content-length": "0" } },
  ],
  "the body of a statusCode map may be JSON": [
    { statusCode: 200, body: { a: 1 } },
    { status: 200, type: JSON_TYPE, body: '{"a":1}' },
  ],
  "the body of a statusCode map may be text": [
    { statusCode: 200, body: "hi" },
    { status: 200, type: TEXT, body: "hi" },
  ],
  "base64 is decoded when the map says so": [
    {
      statusCode: 200,
      headers: { "content-type": "image/x" },
      body: EVERY_BYTE.toString("base64"),
      isBase64Encoded: true,
    },
    { status: 200, type: "image/x", body: EVERY_BYTE },
  ],
  "several values of a header stay several": [
    { statusCode: 204, headers: { "set-cookie": ["a=1", "b=2"] } },
    { status: 204, body: "", headers: { "set-cookie": ["a=1", "b=2"] } },
  ],
  "numbers are header values too": [
    { statusCode: 200, headers: { "x-n": 5 } },
    { status: 200, body: "", headers: { "x-n": "5" } },
  ],
  "headers that frame the answer are the server's": [
    {
      statusCode: 200,
      headers: { "Content-Length": "999", "Transfer-Encoding": "chunked", Connection: "upgrade" },
      body: "hi",
    },
    { status: 200, type: TEXT, body: "hi", headers: { "content-length": "2" } },
  ],
  "an error status of the handler's own is no failure": [
    { statusCode: 500, body: "mine" },
    { status: 500, type: TEXT, body: "mine" },
  ],
  "304 has no body": [
    { statusCode: 304, body: "x" },
    { status: 304, body: "" },
  ],
};

const CONSTANTS: Record<string, Expected> = {
  string: { status: 200, type: TEXT, body: "grüße" },
  bytes: { status: 200, type: "application/octet-stream", body: EVERY_BYTE },
  number: { status: 200, type: JSON_TYPE, body: "42" },
  list: { status: 200, type: JSON_TYPE, body: '[1,"two"]' },
  true: { status: 200, type: JSON_TYPE, body: "true" },
  nothing: { status: 204, body: "" },
};

const IMPOSSIBLE: Record<string, unknown> = {
  "a status that is no number": { statusCode: "ok" },
  "a status that HTTP does not know": { statusCode: 1000 },
  "an informational status": { statusCode: 101 },
  "a line break in a header": { statusCode: 200, headers: { "x-a": "b\r\nset-cookie: evil=1" } },
  "a line break in a header's name": { statusCode: 200, headers: { "x-a: b\r\nx-evil": "1" } },
  "a header that is no text": { statusCode: 200, headers: { "x-a": "日本" } },
  "headers that are a list": { statusCode: 200, headers: ["a"] },
  "base64 that is none": { statusCode: 200, body: "§§", isBase64Encoded: true },
};

/** How a result becomes the answer. */
export function answerCases(subject: Subject): void {
  it.each(Object.entries(ECHOED))("%s", async (_name, [result, expected]) => {
    const reply = await act(subject.shared().origin, "echo", result);
    expect({ status: reply.status, type: reply.headers["content-type"] }).toEqual({
      status: expected.status,
      type: expected.type,
    });
    expect(reply.body).toEqual(Buffer.from(expected.body));
    expect(reply.headers).toMatchObject(expected.headers ?? {});
  });

  it.each(Object.entries(CONSTANTS))("the language's own %s is answered as such", async (what, expected) => {
    const reply = await act(subject.shared().origin, "constant", { what });
    expect({ status: reply.status, type: reply.headers["content-type"] }).toEqual({
      status: expected.status,
      type: expected.type,
    });
    expect(reply.body).toEqual(Buffer.from(expected.body));
  });

  it("bytes in a statusCode map stay bytes", async () => {
    const reply = await act(subject.shared().origin, "raw-bytes-map");
    expect([reply.status, reply.headers["content-type"]]).toEqual([201, "image/x-test"]);
    expect([...reply.body]).toEqual([0, 255, 10]);
  });

  it.each(Object.entries(IMPOSSIBLE))("%s is the handler's failure and reaches no client", async (_name, result) => {
    const reply = await act(subject.shared().origin, "echo", result);
    expect([reply.status, reply.json]).toEqual([500, expect.objectContaining({ reason: "handler_error" })]);
    expect(Object.keys(reply.headers)).not.toContain("x-evil");
    expect(reply.headers["set-cookie"]).toBeUndefined();
  });

  it("a result that is no JSON is the handler's failure", async () => {
    const reply = await act(subject.shared().origin, "unencodable");
    expect([reply.status, reply.json]).toEqual([500, expect.objectContaining({ reason: "handler_error" })]);
  });

  it("HEAD gets the headers alone", async () => {
    const reply = await send(subject.shared().origin, { method: "HEAD", path: "/constant?what=string" });
    expect([reply.status, reply.headers["content-type"], reply.headers["content-length"]]).toEqual([200, TEXT, "7"]);
    expect(reply.body.length).toBe(0);
  });

  it("an error is 500 with the request id, and its stack stands in the log alone", async () => {
    const reply = await act(subject.shared().origin, "fail", {}, { headers: { "x-request-id": "failing-call" } });
    expect(reply.status).toBe(500);
    expect(reply.json).toEqual({
      error: expect.stringContaining("log"),
      component: "runtime",
      reason: "handler_error",
      requestId: "failing-call",
    });
    expect(JSON.stringify(reply.headers) + reply.body).not.toContain("secret detail");
    await hasWritten(subject.shared().stderr, "ERROR [failing-call]");
    await hasWritten(subject.shared().stderr, "secret detail");
  });
}
