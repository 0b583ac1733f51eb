import { describe } from "vitest";
import { answerCases } from "./conformance-answers.ts";
import { callCases } from "./conformance-calls.ts";
import { eventCases } from "./conformance-events.ts";
import { lifeCases } from "./conformance-life.ts";
import { limitCases } from "./conformance-limits.ts";
import type { Machine } from "./replica.ts";
import { openSubject } from "./subject.ts";

/**
 * What every runtime does alike: real processes of its start command, with a handler per language that behaves the same.
 *
 * @param already another runtime with the same server on the same interpreter ran it all: it is enough to see that this
 *   one starts and answers
 */
export function runtimeConformance(machine: Machine, already: boolean): void {
  describe(`${machine.runtime.name} on ${machine.runtime.language} ${machine.interpreter.version}`, () => {
    const subject = openSubject(machine);
    describe("events", () => eventCases(subject));
    if (already) return;
    describe("answers", () => answerCases(subject));
    describe("calls", () => callCases(subject));
    limitCases(subject);
    describe.concurrent("life", () => lifeCases(subject));
  });
}
