import fc from "fast-check";
import { expect, it } from "vitest";
import { type DigestedFile, sourceDigest } from "../../src/source/index.ts";

const file = fc.record({
  path: fc.string({ minLength: 1, unit: "grapheme" }).filter((path) => path.isWellFormed()),
  mode: fc.constantFrom("100644", "100755", "120000"),
  id: fc.constantFrom("1", "2", "3").map((digit) => digit.repeat(40)),
});
const files = fc.uniqueArray(file, { selector: ({ path }) => path, maxLength: 20 });

it("does not depend on the order of the files", () => {
  const shuffled = files.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  );
  fc.assert(
    fc.property(shuffled, ([one, other]) => {
      expect(sourceDigest(one)).toBe(sourceDigest(other));
    }),
  );
});

it("differs when any file differs", () => {
  const key = (list: DigestedFile[]) => JSON.stringify(list.map((one) => Object.values(one).join("|")).sort());
  const differ = ([one, other]: [DigestedFile[], DigestedFile[]]) => {
    expect(sourceDigest(one) === sourceDigest(other)).toBe(key(one) === key(other));
  };
  const changed = files.chain((list) =>
    fc.tuple(
      fc.constant(list),
      fc
        .array(file, { minLength: list.length, maxLength: list.length })
        .map((others) => list.map((one, index) => (index === 0 ? { ...others[index]!, path: one.path } : one))),
    ),
  );
  fc.assert(fc.property(fc.tuple(files, files), differ));
  fc.assert(fc.property(changed, differ));
});

it("has no seams: what moves from one field to the next changes it", () => {
  const one = sourceDigest([{ path: "a", mode: "100644", id: "1" }]);
  expect(sourceDigest([{ path: "a1", mode: "00644", id: "1" }])).not.toBe(one);
  expect(sourceDigest([])).not.toBe(one);
});

it("sorts by UTF-8 bytes, and never changes for the same files", () => {
  const id = "0123456789abcdef0123456789abcdef01234567";
  const paths = ["\u{1F600}.py", "\uFF5E.py", "b", "a/b", "a.b"];
  const digest = sourceDigest(paths.map((path) => ({ path, mode: "100644", id })));
  expect(digest).toMatchInlineSnapshot(`"7e43d6f5d21f6b4d9529dc8dedcf12d76e8a34b2dd267582074d68a97c28309d"`);
});
