import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { SeededRandom } from "../support/seeded-random.ts";

/** A function that nobody but the REST API wrote. */
export interface Written {
  readonly memory: number;
  /** Of its handler; undefined before an upload. */
  readonly code: string | undefined;
}

/**
 * What a function may be: not there, of the repository, being deleted (until it is absent, which nobody tells), or as
 * the API wrote it.
 */
export type State = "absent" | "owned" | "dying" | Written;

/** A write through the REST API. */
export type Write =
  | { readonly do: "create" | "replace" | "merge"; readonly memory: number }
  | { readonly do: "upload"; readonly code: string }
  | { readonly do: "delete" };

/** What may be of one function, by what was acknowledged, refused, seen, or never answered. */
export interface Belief {
  readonly name: string;
  /**
   * A write that was sent while no other one of this function was.
   *
   * @param status of the answer; undefined: none came, so it may have been carried out or not
   */
  learn(write: Write, status: number | undefined): void;
  /** What was read while no write of this function was under way. */
  see(state: State): void;
}

/** @param comesAndGoes the repository may hold it or not, so that without the API it is absent, owned or dying */
export function openBelief(name: string, begin: State, comesAndGoes: boolean): Belief {
  let mayBe: readonly State[] = [begin];
  function settle(states: readonly State[], learnt: string): void {
    const before = JSON.stringify(mayBe);
    const all = [...states, ...(states.some(isText) ? silently(states, comesAndGoes) : [])];
    mayBe = all.filter((one, at) => all.findIndex((other) => isDeepStrictEqual(one, other)) === at);
    expect(mayBe.length, `${name} was one of ${before}, and ${learnt}`).toBeGreaterThan(0);
  }
  settle(mayBe, "it begins");
  return {
    name,
    learn(write, status) {
      const outcomes = mayBe.flatMap((state) => outcomesOf(write, state));
      if (status === undefined) settle([...mayBe, ...outcomes.map(({ next }) => next)], "no answer came");
      else {
        const told = `${JSON.stringify(write)} was answered ${status}`;
        settle(
          outcomes.filter((outcome) => outcome.status === status).map(({ next }) => next),
          told,
        );
      }
    },
    see(state) {
      const held = mayBe.filter((one) => isDeepStrictEqual(one, state));
      settle(held, `${JSON.stringify(state)} was seen`);
    },
  };
}

function isText(state: State): boolean {
  return typeof state === "string";
}

/** What it may become without a write of the API. */
function silently(states: readonly State[], comesAndGoes: boolean): State[] {
  if (comesAndGoes) return ["absent", "owned", "dying"];
  return states.includes("dying") ? ["absent"] : [];
}

interface AnswerOf {
  readonly status: number;
  readonly next: State;
}

/** What the API may answer, and what then is. */
function outcomesOf(write: Write, state: State): AnswerOf[] {
  if (state === "dying") return outcomesOfDying(write);
  if (write.do === "create")
    return state === "absent"
      ? [{ status: 201, next: { memory: write.memory, code: undefined } }]
      : [{ status: 409, next: state }];
  if (state === "absent") return [{ status: 404, next: state }];
  if (state === "owned") return [{ status: 409, next: state }];
  if (write.do === "delete")
    return [
      { status: 204, next: "absent" },
      { status: 202, next: "dying" },
    ];
  if (write.do === "upload") return [{ status: 200, next: { ...state, code: write.code } }];
  return [{ status: 200, next: { ...state, memory: write.memory } }];
}

/** A request waits for the end of it, but not for ever. */
function outcomesOfDying(write: Write): AnswerOf[] {
  const refused: AnswerOf = { status: 409, next: "dying" };
  if (write.do === "create") return [refused, { status: 201, next: { memory: write.memory, code: undefined } }];
  const gone: AnswerOf = { status: 404, next: "absent" };
  if (write.do !== "delete") return [refused, gone];
  return [refused, gone, { status: 204, next: "absent" }, { status: 202, next: "dying" }];
}

/** Writes of which no two leave the same, and no manifest does whose memory is even. */
export function openWrites(random: SeededRandom) {
  let count = 0;
  return function draw(): Write {
    count += 1;
    const what = random.pick(["create", "create", "replace", "merge", "merge", "upload", "upload", "delete"] as const);
    if (what === "delete") return { do: what };
    if (what === "upload") return { do: what, code: `def handle(event, context):\n    return ${count}\n` };
    return { do: what, memory: 65 + 2 * (count % 1000) };
  };
}
