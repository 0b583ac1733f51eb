import fc from "fast-check";
import { expect, it } from "vitest";
import { newestTag } from "../../src/source/index.ts";

const TAGS = ["v1.2.0", "1.10.0", "v1.10.1-rc.1", "2.0.0", "v2.0.0-rc.1", "latest", "v1", "1.2.3.4", "release-3.0.0"];

it.each([
  ["1.x", "1.10.0"],
  ["^1.2", "1.10.0"],
  [">=1.0.0 <1.5.0", "v1.2.0"],
  ["*", "2.0.0"],
  [">=2.0.0-rc.0 <2.0.0", "v2.0.0-rc.1"],
  [">=3", undefined],
  ["1.2.0 || 2.0.0", "2.0.0"],
])("of the range %s the newest tag is %s", (range, tag) => {
  expect(newestTag(TAGS, range)).toBe(tag);
});

it.each(["newest", "1.x; rm", "x".repeat(300), "\0"])("%j is refused as a range", (range) => {
  expect(() => newestTag(TAGS, range)).toThrow(expect.objectContaining({ code: "semver_invalid" }));
});

it("the same tag is chosen whatever their order", () => {
  const tags = ["1.0.0", "v1.0.0", "1.0.0+b", "1.0.0+a", "0.9.0", "junk"];
  fc.assert(
    fc.property(fc.shuffledSubarray(tags, { minLength: tags.length }), (shuffled) => {
      expect(newestTag(shuffled, "*")).toBe("1.0.0+b");
    }),
  );
});
