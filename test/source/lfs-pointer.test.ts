import { expect, it } from "vitest";
import { isLfsPointer } from "../../src/source/index.ts";

const oid = `oid sha256:${"ab".repeat(32)}`;
const version = "version https://git-lfs.github.com/spec/v1";

it.each([
  ["a pointer", `${version}\n${oid}\nsize 12345\n`, true],
  ["a pointer with an extension", `${version}\next-0-x sha256:1\n${oid}\nsize 1\n`, true],
  ["a pointer with CRLF", `${version}\r\n${oid}\r\nsize 1\r\n`, true],
  ["a text about pointers", `See:\n${version}\n${oid}\nsize 12345\n`, false],
  ["a version alone", `${version}\n`, false],
  ["an empty file", "", false],
  ["a large file that begins like one", `${version}\n${oid}\nsize 1\n${"x".repeat(2000)}`, false],
])("%s is told by its content", (_, text, expected) => {
  expect(isLfsPointer(Buffer.from(text))).toBe(expected);
  expect(isLfsPointer(text)).toBe(expected);
});
