import { expect, it } from "vitest";
import { parseTree } from "../../src/source/parse-tree.ts";

const id = "ab".repeat(20);
const entry = (head: string, hex = id) => Buffer.concat([Buffer.from(`${head}\0`, "latin1"), Buffer.from(hex, "hex")]);

it.each([
  ["40000", "40000"],
  ["040000", "40000"],
  ["100644", "100644"],
  ["100664", "100644"],
  ["100600", "100644"],
  ["100755", "100755"],
  ["100775", "100755"],
  ["120000", "120000"],
  ["160000", "160000"],
])("mode %s is read as %s", (written, mode) => {
  expect(parseTree(entry(`${written} name`), 20)).toEqual([{ name: "name", mode, id }]);
});

it("names come as they stand there, hostile ones too", () => {
  const names = ["..", "a/b", ".git", "with space", "\xff"];
  const tree = Buffer.concat(names.map((name) => entry(`100644 ${name}`)));
  expect(parseTree(tree, 20)?.map(({ name }) => name)).toEqual(["..", "a/b", ".git", "with space", "\ufffd"]);
});

it("ids of sha256 are longer", () => {
  const long = "cd".repeat(32);
  expect(parseTree(entry("100644 a", long), 32)).toEqual([{ name: "a", mode: "100644", id: long }]);
});

it.each([
  ["an id that is cut off", entry("100644 a").subarray(0, -1)],
  ["an entry without a name", entry("100644 ")],
  ["an entry without a mode", entry(" a")],
  ["an unknown mode", entry("010644 a")],
  ["a mode that is no number", entry("abc a")],
  ["no end of the name", Buffer.from("100644 a")],
  ["no space", Buffer.concat([Buffer.from("100644\0"), Buffer.alloc(20, 1)])],
  ["a text", Buffer.from("tree 123\nauthor\n")],
])("a tree with %s is none", (_, bytes) => {
  expect(parseTree(bytes, 20)).toBeUndefined();
});
