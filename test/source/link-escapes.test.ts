import { expect, it } from "vitest";
import { escapingLinks } from "../../src/source/index.ts";

const cases: [string, Record<string, string>, boolean][] = [
  ["a neighbour", { "a/link": "file" }, false],
  ["a file further up, inside", { "a/b/link": "../../file" }, false],
  ["the source itself", { "a/link": ".." }, false],
  ["the folder above the source", { link: ".." }, true],
  ["a file above the source", { "a/link": "../../secret" }, true],
  ["out and in again", { link: "../source/file" }, true],
  ["an absolute path", { link: "/etc/passwd" }, true],
  ["nothing", { link: "" }, true],
  ["a backslash", { link: "..\\secret" }, true],
  ["a target with dots and doubled slashes", { "a/link": ".//./b//../c" }, false],
  ["out by way of another link", { "a/up": "..", link: "a/up/../secret" }, true],
  ["up from a linked folder, inside", { "a/up": "b/c", link: "a/up/../file" }, false],
  ["a link that leads out", { other: "/etc", link: "other/passwd" }, true],
  ["itself", { link: "link" }, true],
  ["a circle", { link: "b", b: "link" }, true],
];
it.each(cases)("a link to %s is judged by where it ends", (_, links, expected) => {
  const targets = new Map(Object.entries(links));
  const path = [...targets.keys()].find((key) => key.endsWith("link"))!;
  expect(escapingLinks(targets).includes(path)).toBe(expected);
});

it("a tower of links that doubles at every floor ends", () => {
  const targets = new Map(Array.from({ length: 40 }, (_, index) => [`l${index}`, `l${index + 1}/l${index + 1}`]));
  expect(escapingLinks(targets)).toEqual([]);
});

it("thousands of links in a circle, or of endless targets, take no time", () => {
  const circle = Array.from({ length: 3_000 }, (_, index) => [`l${index}`, `l${(index + 1) % 3_000}/x`] as const);
  const long = Array.from(
    { length: 3_000 },
    (_, index) => [`m${index}`, `m${index + 1}${"/a".repeat(2_000)}`] as const,
  );
  const started = performance.now();
  expect(escapingLinks(new Map([...circle, ...long]))).toHaveLength(6_000 - 2);
  expect(performance.now() - started).toBeLessThan(2_000);
});
