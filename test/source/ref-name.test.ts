import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { isRefName, shownRef } from "../../src/source/ref-name.ts";

const names = [
  ...["main", "a/b/c", "-x", "--help", "ünïcode", "@", "a@b", "a.b", "A", "0", "a-", "refs/heads/x", "HEAD"],
  ...["", "/", "a/", "/a", "a//b", ".a", "a/.b", "a.", "a..b", "a.lock", "a.lock/b", "a@{b", "a b", "a~b", "a^b"],
  ...["a:b", "a?b", "a*b", "a[b", "a\\b", "a\x7fb", "a\nb", "a\tb", "../a", "a/../b", "a.lockx", "a]b", "{a}"],
];

it("agrees with git on what a ref may be called", async () => {
  const allows = (name: string) =>
    promisify(execFile)("git", ["check-ref-format", `refs/heads/${name}`]).then(
      () => true,
      () => false,
    );
  const expected = await Promise.all(names.map(async (name) => [name, await allows(name)]));
  expect(names.map((name) => [name, isRefName(`refs/heads/${name}`)])).toEqual(expected);
});

it("takes no NUL and nothing endless", () => {
  expect(isRefName("refs/heads/a\0b")).toBe(false);
  expect(isRefName(`refs/heads/${"a".repeat(5000)}`)).toBe(false);
});

it("is shown short and without control characters", () => {
  expect(shownRef("main")).toBe("main");
  expect(shownRef("a\nb\x1b[31m")).toBe("a\\u{a}b\\u{1b}[31m");
  expect(shownRef("x".repeat(5000)).length).toBeLessThan(200);
});
