import type { IncomingHttpHeaders } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Announcement, announcementOf, payloadOf } from "../../src/hooks/announcement.ts";
import { wantedRef } from "../../src/hooks/wanted-ref.ts";

const COMMIT = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const ZEROS = "0".repeat(40);

const push = (ref: string, commit?: string, defaultBranch?: string): Announcement => ({
  kind: "push",
  refs: [{ ref, commit }],
  defaultBranch,
});

const cases: Record<string, { headers?: IncomingHttpHeaders; payload: unknown; expected: Announcement }> = {
  "a push at GitHub": {
    headers: { "x-github-event": "push" },
    payload: { ref: "refs/heads/main", before: ZEROS, after: COMMIT, repository: { default_branch: "main" } },
    expected: push("refs/heads/main", COMMIT, "main"),
  },
  "a tag that was pushed at GitHub": {
    payload: { ref: "refs/tags/v1.0.0", after: COMMIT, base_ref: "refs/heads/main" },
    expected: push("refs/tags/v1.0.0", COMMIT),
  },
  "a branch that was deleted": {
    payload: { ref: "refs/heads/old", after: ZEROS, deleted: true },
    expected: push("refs/heads/old"),
  },
  "a branch that was created at GitHub": {
    headers: { "x-github-event": "create" },
    payload: { ref: "feature/a", ref_type: "branch", master_branch: "main" },
    expected: push("refs/heads/feature/a"),
  },
  "a tag that was deleted at Gitea": {
    headers: { "x-gitea-event": "delete" },
    payload: { ref: "v1", ref_type: "tag", repository: { default_branch: "trunk" } },
    expected: push("refs/tags/v1", undefined, "trunk"),
  },
  "a push at GitLab": {
    headers: { "x-gitlab-event": "Push Hook" },
    payload: { object_kind: "push", ref: "refs/heads/main", after: COMMIT, project: { default_branch: "main" } },
    expected: push("refs/heads/main", COMMIT, "main"),
  },
  "a push to Bitbucket Cloud": {
    headers: { "x-event-key": "repo:push" },
    payload: {
      push: {
        changes: [
          { old: null, new: { type: "branch", name: "main", target: { hash: COMMIT } } },
          { old: { type: "tag", name: "v1" }, new: null },
        ],
      },
    },
    expected: {
      kind: "push",
      refs: [
        { ref: "refs/heads/main", commit: COMMIT },
        { ref: "refs/tags/v1", commit: undefined },
      ],
      defaultBranch: undefined,
    },
  },
  "a push to Bitbucket Data Center": {
    headers: { "x-event-key": "repo:refs_changed" },
    payload: { changes: [{ ref: { id: "refs/heads/main", type: "BRANCH" }, toHash: COMMIT, type: "UPDATE" }] },
    expected: push("refs/heads/main", COMMIT),
  },
  "a push of which one change is not understood": {
    payload: {
      push: { changes: [{ new: { type: "branch", name: "main" } }, { new: { type: "bookmark", name: "x" } }] },
    },
    expected: { kind: "unknown" },
  },
  "a push of more than Bitbucket tells": { payload: { push: { changes: [] } }, expected: { kind: "unknown" } },
  "a ping of GitHub": {
    headers: { "x-github-event": "ping" },
    payload: { zen: "Keep it logically awesome." },
    expected: { kind: "ping" },
  },
  "a ping of Bitbucket": {
    headers: { "x-event-key": "diagnostics:ping" },
    payload: { test: true },
    expected: { kind: "ping" },
  },
  "an event that is no push": { payload: { action: "published", release: {} }, expected: { kind: "unknown" } },
  "a short ref without its type": { payload: { ref: "main" }, expected: { kind: "unknown" } },
  "a ref that is no text": { payload: { ref: ["refs/heads/main"] }, expected: { kind: "unknown" } },
  "a list": { payload: [1, 2], expected: { kind: "unknown" } },
  nothing: { payload: null, expected: { kind: "unknown" } },
};
it.each(Object.entries(cases))("%s is read as what it is", (_name, { headers = {}, payload, expected }) => {
  expect(announcementOf(headers, JSON.stringify(payload))).toEqual(expected);
});

it.each([undefined, "", "{", "ref=refs/heads/main", "[".repeat(200_000)])("%.20j is not understood", (payload) => {
  expect(announcementOf({}, payload)).toEqual({ kind: "unknown" });
});

it("the payload of a form is its field, of anything else the body", () => {
  const type = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  expect(payloadOf(type, Buffer.from("payload=%7B%22a%22%3A+%22%C3%A9%22%7D&x=1"))).toBe('{"a": "é"}');
  expect(payloadOf(type, Buffer.from('{"ref":"x"}'))).toBe('{"ref":"x"}');
  expect(payloadOf({ "content-type": "application/json" }, Buffer.from('{"a":"é"}'))).toBe('{"a":"é"}');
  expect(payloadOf({}, Buffer.from("payload=1"))).toBe("payload=1");
});

it("whatever a payload holds, reading it is no error", () => {
  const headers = fc.dictionary(fc.constantFrom("x-github-event", "x-event-key", "content-type"), fc.string());
  const keys = fc.constantFrom("ref", "ref_type", "push", "changes", "new", "old", "after", "repository", "__proto__");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.string(), fc.integer(), fc.constant(null), tie("list"), tie("map")),
    list: fc.array(tie("value"), { maxLength: 3 }),
    map: fc.dictionary(keys, tie("value")),
  }));
  fc.assert(
    fc.property(headers, value, (given, payload) => {
      expect(["ping", "push", "unknown"]).toContain(announcementOf(given, JSON.stringify(payload)).kind);
    }),
  );
});

describe("of what was pushed a repository wants", () => {
  const main = { ref: "refs/heads/main", commit: COMMIT };
  const next = { ref: "refs/heads/next", commit: undefined };
  const tag = { ref: "refs/tags/v1", commit: COMMIT };
  const table: [string, Parameters<typeof wantedRef>, ReturnType<typeof wantedRef>][] = [
    ["its branch", [{ refs: [next, main], defaultBranch: "next" }, { branch: "main" }], main],
    ["no other branch", [{ refs: [next], defaultBranch: undefined }, { branch: "main" }], undefined],
    ["no tag of its branch's name", [{ refs: [tag], defaultBranch: undefined }, { branch: "v1" }], undefined],
    ["the default branch when it names none", [{ refs: [main], defaultBranch: "main" }, undefined], main],
    ["no other than the default branch", [{ refs: [next], defaultBranch: "main" }, {}], undefined],
    ["any branch while the default branch is not told", [{ refs: [next], defaultBranch: undefined }, {}], "any"],
    ["no tag when it follows the default branch", [{ refs: [tag], defaultBranch: undefined }, {}], undefined],
    ["its tag", [{ refs: [tag], defaultBranch: "main" }, { tag: "v1" }], "any"],
    ["no other tag", [{ refs: [tag], defaultBranch: "main" }, { tag: "v2" }], undefined],
    ["any tag when it follows a range", [{ refs: [tag], defaultBranch: "main" }, { semver: "1.x" }], "any"],
    ["no branch when it follows a range", [{ refs: [main], defaultBranch: "main" }, { semver: "1.x" }], undefined],
    ["anything when it follows a commit", [{ refs: [next], defaultBranch: "main" }, { commit: COMMIT }], "any"],
  ];
  it.each(table)("%s", (_name, [pushed, ref], expected) => expect(wantedRef(pushed, ref)).toEqual(expected));
});
