import fc from "fast-check";
import { expect, it } from "vitest";
import { KIND_NAMES, WORKLOAD_KINDS } from "../../src/apis/index.ts";
import { type LeaderQuestion, questionOf, requestOf } from "../../src/leader/leader-protocol.ts";

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,40}[a-z0-9])?$/);
const refOf = <T extends string>(kinds: readonly T[]) =>
  fc.record({ kind: fc.constantFrom(...kinds), namespace: label, name: label });
const question: fc.Arbitrary<LeaderQuestion> = fc.oneof(
  fc.record({ asks: fc.constant("place" as const), object: refOf(KIND_NAMES), repository: label }),
  fc.record({ asks: fc.constant("build-logs" as const), workload: refOf(WORKLOAD_KINDS), follow: fc.boolean() }),
  fc.record({ asks: fc.constant("garbage" as const), dryRun: fc.boolean() }),
);

it("every question is understood as it was asked", () => {
  fc.assert(
    fc.property(question, (asked) => {
      const { method, path } = requestOf(asked);
      expect(questionOf(method, path)).toEqual(asked);
    }),
  );
});

it("nothing but what asks is a question", () => {
  fc.assert(
    fc.property(fc.constantFrom("GET", "POST", "PUT", "HEAD"), fc.string(), (method, text) => {
      const asked = questionOf(method, `/${text}`);
      if (asked) expect(requestOf(asked)).toEqual({ method, path: `/${text}` });
    }),
  );
});

it.each([
  ["GET", "/"],
  ["GET", "/garbage"],
  ["POST", "/garbage?dry_run=false"],
  ["POST", "/garbage/"],
  ["POST", "/places/code/Function/team/hello"],
  ["GET", "/places/Function/team/hello"],
  ["GET", "/places/Code/Function/team/hello"],
  ["GET", "/places/../Function/team/hello"],
  ["GET", "/places/code/Function/team"],
  ["GET", "/places/code/Function/team/hello/"],
  ["GET", "/places/code/Function/team/hello?follow=true"],
  ["GET", "/places/code/Secret/team/hello"],
  ["GET", "/places/code/constructor/team/hello"],
  ["GET", "/places/code/Function/team/../hello"],
  ["GET", "/places/code/Function/team/hel%6co"],
  ["GET", "/places/code/Function/Team/hello"],
  ["GET", `/places/code/Function/team/${"a".repeat(53)}`],
  ["GET", `/places/code/Function/${"a".repeat(55)}/hello`],
  ["GET", "/build-logs/Trigger/team/hello"],
  ["GET", "/build-logs/Function/team/hello?follow=1"],
  ["GET", "/places/code/Function/team/hello\n"],
])("%s %s asks nothing", (method, target) => {
  expect(questionOf(method, target)).toBeUndefined();
});
