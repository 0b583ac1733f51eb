import fc from "fast-check";
import { expect, it } from "vitest";
import { parseCallPath } from "../../src/gateway/call-path.ts";

const addresses: Record<string, string> = {
  "/fn/default/hello": "/",
  "/fn/default/hello/": "/",
  "/fn/default/hello?a=1&b=%20": "/?a=1&b=%20",
  "/fn/default/hello/a/b": "/a/b",
  "/fn/default/hello//a": "//a",
  "/fn/default/hello/a%2Fb%20%C3%A9?x=%3F": "/a%2Fb%20%C3%A9?x=%3F",
  "/fn/default/hello/../other": "/../other",
  "/fn/default/hello/%2e%2e/x": "/%2e%2e/x",
  "/fn/default/hello/a?b?c=/d": "/a?b?c=/d",
};

it.each(Object.entries(addresses))("%s goes to hello as %s", (target, path) => {
  expect(parseCallPath(target)).toEqual({ namespace: "default", name: "hello", prefix: "/fn/default/hello", path });
});

const strangers = [
  "/fn/",
  "/fn/default",
  "/fn/default/",
  "/fn/default//hello",
  "/fn//hello",
  "/fn/default/%68ello",
  "/fn/default%2Fhello/x",
  "/fn/../default/hello",
  "/fn/Default/hello",
  "/fn/default/hello%00",
  "/fn/default/1hello",
  `/fn/default/${"a".repeat(53)}`,
  "/v1/fn/default/hello",
  "http://other/fn/default/hello",
  "*",
  "",
];

it.each(strangers)("%s is no address of a function", (target) => {
  expect(parseCallPath(target)).toBeUndefined();
});

it("whatever the target is, names are plain labels and the path is a part of it", () => {
  const piece = fc.constantFrom("fn", "default", "hello", "/", "?", "%2f", "..", "%", "A", "é", "-", ".");
  const target = fc.array(piece, { maxLength: 12 }).map((pieces) => `/fn/${pieces.join("")}`);
  fc.assert(
    fc.property(target, (text) => {
      const found = parseCallPath(text);
      if (!found) return;
      expect(`${found.namespace}/${found.name}`).toMatch(/^[-a-z0-9]+\/[-a-z0-9]+$/);
      expect(found.path[0]).toBe("/");
      expect(`${found.prefix}${found.path}`.replace("/?", "?").replace(/\/$/, "")).toBe(
        text.replace("/?", "?").replace(/\/$/, ""),
      );
    }),
  );
});
