import { describe, expect, it } from "vitest";
import { credentialsIn, parseImageReference } from "../../src/registry/index.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

it.each([
  ["python:3.11-slim", { host: "docker.io", repository: "library/python", tag: "3.11-slim" }],
  ["team/base", { host: "docker.io", repository: "team/base", tag: "latest" }],
  ["docker.io/library/node:20-slim", { host: "docker.io", repository: "library/node", tag: "20-slim" }],
  ["10.0.0.1:5000/a/b:1", { host: "10.0.0.1:5000", repository: "a/b", tag: "1" }],
  ["localhost/a", { host: "localhost", repository: "a", tag: "latest" }],
  ["registry:5000/a", { host: "registry:5000", repository: "a", tag: "latest" }],
  [`ghcr.io/a/b@${DIGEST}`, { host: "ghcr.io", repository: "a/b", tag: undefined, digest: DIGEST }],
  [`ghcr.io/a/b:1@${DIGEST}`, { host: "ghcr.io", repository: "a/b", tag: "1", digest: DIGEST }],
])("%s is read as docker pull reads it", (text, expected) => {
  expect(parseImageReference(text)).toMatchObject(expected);
});

it.each([
  "",
  ":1",
  "UPPER/case",
  "a/../b",
  "a//b",
  "a b",
  "ghcr.io/a@sha256:12",
  "a@b@c",
  `${"a/".repeat(200)}b`,
  "a:b:c",
])("%j is no reference", (text) => {
  expect(() => parseImageReference(text)).toThrow(/no reference of an image/);
});

describe("credentials of a Docker config.json", () => {
  const auth = Buffer.from("team:pass:word").toString("base64");
  it.each([
    ["ghcr.io", { "ghcr.io": { auth } }],
    ["ghcr.io", { "https://ghcr.io": { auth } }],
    ["docker.io", { "https://index.docker.io/v1/": { auth } }],
    ["10.0.0.1:5000", { "10.0.0.1:5000": { username: "team", password: "pass:word" } }],
  ])("of %s are found under %j", (host, auths) => {
    expect(credentialsIn(JSON.stringify({ auths }), host)).toEqual({ username: "team", password: "pass:word" });
  });

  it("of another registry are not taken", () => {
    expect(credentialsIn(JSON.stringify({ auths: { "ghcr.io": { auth } } }), "ghcr.io.evil.example")).toBeUndefined();
    expect(credentialsIn("{}", "__proto__")).toBeUndefined();
  });

  it("that are no JSON are refused without a word of them", () => {
    for (const text of ["not json: s3cret", '["s3cret"]', '"s3cret"', "null", '{"auths": "s3cret"}'])
      expect(() => credentialsIn(text, "ghcr.io")).toThrow(/^(?!.*s3cret).*no Docker config/);
  });
});
