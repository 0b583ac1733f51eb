import { describe } from "vitest";
import { answerCases } from "./conformance-answers.ts";
import { callCases } from "./conformance-calls.ts";
import { eventCases } from "./conformance-events.ts";
import { lifeCases } from "./conformance-life.ts";
import { limitCases } from "./conformance-limits.ts";
import type { Machine } from "./replica.ts";
import { openSubject } from "./subject.ts";

/** What every runtime does alike: real processes of its start command, with a handler per language that behaves the same. */
export function runtimeConformance(machine: Machine): void {
  describe(`${machine.runtime.name} on ${machine.runtime.language} ${machine.interpreter.version}`, () => {
    const subject = openSubject(machine);
    describe("events", () => eventCases(subject));
    describe("answers", () => answerCases(subject));
    describe("calls", () => callCases(subject));
    limitCases(subject);
    describe.concurrent("life", () => lifeCases(subject));
  });
}
