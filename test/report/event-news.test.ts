import { expect, it } from "vitest";
import { newsOf, type ProgressEvent } from "../../src/report/index.ts";

const key = { namespace: "demo", name: "hello" };
const object = { kind: "Function" as const, ...key };

const cases: [ProgressEvent, string][] = [
  [
    { step: "fetched", repository: key, revision: "main@sha1:1", durationMs: 1 },
    "Normal Repository Fetched: Fetched main@sha1:1",
  ],
  [
    { step: "planned", repository: key, revision: "r", changes: ["a"], durationMs: 1 },
    "Normal Repository Planned: 1 change at r",
  ],
  [
    { step: "applied", repository: key, revision: "r", objects: 2, durationMs: 1 },
    "Normal Repository Applied: Wrote 2 objects of r",
  ],
  [
    { step: "stored", object, sourceDigest: "0123456789abcdef", durationMs: 1 },
    "Normal Function SourceStored: Stored source 0123456789ab",
  ],
  [
    { step: "stored", object, sourceDigest: "0123456789abcdef", instead: "damaged", durationMs: 1 },
    "Warning Function SourceRestored: Source 0123456789ab was damaged in the object store: stored it anew from the repository",
  ],
  [
    { step: "built", object, imageRef: "image", reused: true, durationMs: 1 },
    "Normal Function Built: The image was built before",
  ],
  [{ step: "serving", object, url: undefined, durationMs: 1 }, "Normal Function Serving: Serves"],
  [{ step: "finished", object, phase: "Failed", message: "boom", durationMs: 1 }, "Warning Function Failed: boom"],
  [{ step: "finished", object, phase: "Succeeded", message: "42", durationMs: 1 }, "Normal Function Succeeded: 42"],
  [{ step: "deleted", object }, "Normal Function Deleted: Deleted"],
  [{ step: "failed", object, reason: "BuildFailed", message: "no" }, "Warning Function BuildFailed: no"],
];

it.each(cases)("%j is told as %s", (event, expected) => {
  const { type, reason, message, object: of } = newsOf(event)!;
  expect(`${type} ${of.kind} ${reason}: ${message}`).toBe(expected);
  expect(of).toMatchObject(key);
});

it("a notice is about no object", () => {
  expect(newsOf({ step: "notice", message: "hello" })).toBeUndefined();
});
