import { describe, expect, it } from "vitest";
import { commitOf, pickRevision, type ServedRevision } from "../../src/rollback/pick-revision.ts";

const ref = { kind: "Function", namespace: "default", name: "hello" } as const;

function served(number: number, digest: string, commit?: string): ServedRevision {
  const revision = commit === undefined ? undefined : `main@sha1:${commit.padEnd(40, "0")}`;
  return { number, sourceDigest: digest.padEnd(64, "0"), revision };
}

const history = [
  served(7, "d4d4", "aaaa7"),
  served(6, "d4d4", "aaaa6"),
  served(4, "c3c3", "bbbb4"),
  served(2, "b2b2", "cccc2"),
  served(1, "1234", "dddd1"),
];

interface Case {
  readonly to?: string;
  readonly wanted?: string;
  /** A number, or words of the refusal. */
  readonly expected: number | RegExp;
}

const cases: Record<string, Case> = {
  "by default it is the latest with another source": { expected: 4 },
  "what was rebuilt on another base is no step back": { wanted: "d4d4", expected: 4 },
  "while a newer version fails it is what serves": { wanted: "eeee", expected: 7 },
  "a number names one": { to: "2", expected: 2 },
  "the beginning of a digest names one": { to: "b2b2", expected: 2 },
  "a whole digest with its algorithm names one": { to: `sha256:${"c3c3".padEnd(64, "0")}`, expected: 4 },
  "the beginning of a commit names one": { to: "DDDD1", expected: 1 },
  "a whole revision names one": { to: `main@sha1:${"bbbb4".padEnd(40, "0")}`, expected: 4 },
  "digits that are no number are the beginning of a digest": { to: "1234", expected: 1 },
  "the same source twice is the later one": { to: "d4d4", expected: 7 },
  "a beginning of two commits is refused with their numbers": { to: "0000", expected: /nothing that served/ },
  "three digits name too much": { to: "c3c", expected: /nothing that served is "c3c"/ },
  "what never served is refused": { to: "main@sha1:ffffffff", expected: /nothing that served/ },
  "an empty text names nothing": { to: "", expected: /nothing that served/ },
};

describe("the revision to go back to", () => {
  it.each(Object.entries(cases))("%s", (_name, { to, wanted, expected }) => {
    const pick = () => pickRevision(history, { ref, to, wantedDigest: wanted?.padEnd(64, "0") });
    if (typeof expected === "number") expect(pick().number).toBe(expected);
    else expect(pick).toThrow(expected);
  });

  it("is refused when it could be either of two", () => {
    const both = [served(2, "abcd1", "1111"), served(1, "abcd2", "2222")];
    expect(() => pickRevision(both, { ref, to: "abcd", wantedDigest: undefined })).toThrow(/names numbers 2, 1/);
  });

  it("is refused when nothing else has served", () => {
    expect(() => pickRevision([], { ref, to: undefined, wantedDigest: undefined })).toThrow(/has served yet/);
    const [only] = history;
    expect(() => pickRevision([only!], { ref, to: undefined, wantedDigest: undefined })).toThrow(/nothing to go back/);
  });
});

const commits: Record<string, string | undefined> = {
  [`main@sha1:${"a".repeat(40)}`]: "a".repeat(40),
  [`sha1:${"b".repeat(40)}`]: "b".repeat(40),
  [`release@1@sha256:${"c".repeat(64)}`]: "c".repeat(64),
  [`main@worktree:${"d".repeat(40)}`]: undefined,
  "main@sha1:short": undefined,
  [`main@sha1:${"a".repeat(40)};rm`]: undefined,
};

it.each(Object.entries(commits))("of the revision %s the commit is %s", (revision, commit) => {
  const one = { number: 3, sourceDigest: "", revision };
  if (commit === undefined) expect(() => commitOf(one, ref)).toThrow(/number 3 .*no commit has it/);
  else expect(commitOf(one, ref)).toBe(commit);
});

it("what was uploaded has no commit", () => {
  expect(() => commitOf({ number: 1, sourceDigest: "", revision: undefined }, ref)).toThrow(/was uploaded/);
});
