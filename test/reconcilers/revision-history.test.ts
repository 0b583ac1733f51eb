import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WorkloadRevision } from "../../src/apis/index.ts";
import { historyAfter, type ServingRevision } from "../../src/reconcilers/revision-history.ts";

const NOW = "2026-01-02T00:00:00Z";
const BEFORE = "2026-01-01T00:00:00Z";

/** Source and image of one letter. */
function of(letter: string, commit?: string): ServingRevision {
  const place = commit === undefined ? {} : { revision: commit, path: "hello/function.yaml" };
  return { sourceDigest: `source ${letter}`, imageRef: `image ${letter}`, ...place };
}

function kept(number: number, letter: string, commit?: string): WorkloadRevision {
  return { number, ...of(letter, commit), servedAt: BEFORE };
}

interface Case {
  readonly before: readonly WorkloadRevision[];
  readonly serving: ServingRevision | undefined;
  readonly expected: readonly string[];
}

const cases: Record<string, Case> = {
  "nothing that serves adds nothing": { before: [kept(1, "a")], serving: undefined, expected: ["1 a"] },
  "what serves first is number 1": { before: [], serving: of("a", "c1"), expected: ["1 a c1 now"] },
  "another source comes first": {
    before: [kept(1, "a", "c1")],
    serving: of("b", "c2"),
    expected: ["2 b c2 now", "1 a c1"],
  },
  "the same image of another base is a revision of its own": {
    before: [kept(1, "a", "c1")],
    serving: { ...of("a", "c1"), imageRef: "image b" },
    expected: ["2 a c1 now", "1 a c1"],
  },
  "a commit that leaves source and image takes the earlier one's place": {
    before: [kept(3, "b", "c2"), kept(1, "a", "c1")],
    serving: of("b", "c3"),
    expected: ["3 b c3", "1 a c1"],
  },
  "what serves again gets a new number and stands there once": {
    before: [kept(3, "c", "c3"), kept(2, "b", "c2"), kept(1, "a", "c1")],
    serving: of("a", "c4"),
    expected: ["4 a c4 now", "3 c c3", "2 b c2"],
  },
  "what serves again without a known commit keeps the one that it had": {
    before: [kept(2, "b", "c2"), kept(1, "a", "c1")],
    serving: of("a"),
    expected: ["3 a c1 now", "2 b c2"],
  },
  "the eleventh pushes the oldest out": {
    before: Array.from({ length: 10 }, (_, index) => kept(10 - index, String(10 - index))),
    serving: of("11"),
    expected: ["11 11 now", ...Array.from({ length: 9 }, (_, index) => `${10 - index} ${10 - index}`)],
  },
};

describe("the history of a workload", () => {
  it.each(Object.entries(cases))("%s", (_name, { before, serving, expected }) => {
    const after = historyAfter(before, serving, NOW);
    expect(after.map(toLine)).toEqual(expected);
    expect(historyAfter(after, serving, "2026-01-03T00:00:00Z")).toBe(after);
  });

  it("holds at most ten, each once, the newest numbers first, with what serves at its head", () => {
    const letters = fc.array(fc.constantFrom(..."abcdefghijklm"), { maxLength: 60 });
    fc.assert(
      fc.property(letters, (served) => {
        let history: readonly WorkloadRevision[] = [];
        for (const letter of served) {
          history = historyAfter(history, of(letter), NOW);
          expect(history[0]!.imageRef).toBe(`image ${letter}`);
        }
        const numbers = history.map(({ number }) => number);
        expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
        expect(new Set(history.map(({ imageRef }) => imageRef)).size).toBe(history.length);
        const last = [...new Set(served.toReversed())].slice(0, 10).map((letter) => `image ${letter}`);
        expect(history.map(({ imageRef }) => imageRef)).toEqual(last);
      }),
    );
  });
});

function toLine({ number, imageRef, sourceDigest, revision, servedAt }: WorkloadRevision): string {
  const image = sourceDigest.replace("source ", "");
  expect(imageRef).toMatch(/^image /);
  return [number, image, revision, servedAt === NOW && "now"].filter(Boolean).join(" ");
}
