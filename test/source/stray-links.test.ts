import { expect, it } from "vitest";
import { type StrayLink, strayLinks } from "../../src/source/index.ts";

const cases: [string, Record<string, string>, StrayLink["leads"] | undefined][] = [
  ["a neighbour", { "a/link": "file" }, undefined],
  ["a file further up, inside", { "a/b/link": "../../file" }, undefined],
  ["the source itself", { "a/link": ".." }, undefined],
  ["the folder above the source", { link: ".." }, "outside"],
  ["a file above the source", { "a/link": "../../secret" }, "outside"],
  ["out and in again", { link: "../source/file" }, "outside"],
  ["an absolute path", { link: "/etc/passwd" }, "outside"],
  ["nothing", { link: "" }, "outside"],
  ["a backslash", { link: "..\\secret" }, "outside"],
  ["a target with dots and doubled slashes", { "a/link": ".//./b//../c" }, undefined],
  ["out by way of another link", { "a/up": "..", link: "a/up/../secret" }, "outside"],
  ["up from a linked folder, inside", { "a/up": "b/c", link: "a/up/../file" }, undefined],
  ["a link that leads out", { other: "/etc", link: "other/passwd" }, "outside"],
  ["itself", { link: "link" }, "endless"],
  ["a circle", { link: "b", b: "link" }, "endless"],
];
it.each(cases)("a link to %s is judged by where it ends", (_, links, expected) => {
  const targets = new Map(Object.entries(links));
  const path = [...targets.keys()].find((key) => key.endsWith("link"))!;
  expect(strayLinks(targets).find((link) => link.path === path)?.leads).toBe(expected);
});

it("a tower of links that doubles at every floor ends", () => {
  const targets = new Map(Array.from({ length: 40 }, (_, index) => [`l${index}`, `l${index + 1}/l${index + 1}`]));
  expect(strayLinks(targets)).toEqual([]);
});

it("thousands of links in a circle, or of endless targets, take no time", () => {
  const circle = Array.from({ length: 3_000 }, (_, index) => [`l${index}`, `l${(index + 1) % 3_000}/x`] as const);
  const long = Array.from(
    { length: 3_000 },
    (_, index) => [`m${index}`, `m${index + 1}${"/a".repeat(2_000)}`] as const,
  );
  const before = process.cpuUsage();
  expect(strayLinks(new Map([...circle, ...long]))).toHaveLength(6_000 - 2);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
});
