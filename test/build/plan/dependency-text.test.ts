import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeText, dependencyFault } from "../../../src/build/plan/dependency-text.ts";

const bytes = (text: string) => Buffer.from(text);

describe("a package.json that is no JSON", () => {
  it.each([
    ['{\n  "name": "a",\n  "version" "1"\n}', 3, 13, 'unexpected """'],
    ['{"a": 1,}', 1, 9, 'unexpected "}"'],
    ["{'a': 1}", 1, 2, `unexpected "'"`],
    ['{"a": x}', 1, 7, 'unexpected "x"'],
    ['{"a": 01}', 1, 8, 'unexpected "1"'],
    ['{\r\n<<<<<<< HEAD\r\n"a": 1}', 2, 1, 'unexpected "<"'],
    ['{"a": [1, 2}', 1, 12, 'unexpected "}"'],
    ['{"a": "\u0001"}', 1, 7, 'unexpected """'],
    ["{} {}", 1, 4, 'unexpected "{"'],
    ['{"a": 1', 1, 8, "it ends too early"],
    ["", 1, 1, "it ends too early"],
    ["[1,]", 1, 4, 'unexpected "]"'],
    ['{"🚀": ?}', 1, 7, 'unexpected "?"'],
  ])("%j is told at %i:%i", (text, line, column, found) => {
    const escaped = found.replace('"""', JSON.stringify('"'));
    expect(dependencyFault("package.json", bytes(text))).toEqual({ line, column, cause: `it is no JSON: ${escaped}` });
  });

  it("is told exactly when JSON.parse refuses it or gives no object, within the text", () => {
    const broken = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.constantFrom("", ",", "}", "]", '"', ":", "x", "1", "\n", " ", "{", "\\"),
      )
      .map(([text, at, insert]) => {
        const index = at % (text.length + 1);
        return text.slice(0, index) + insert + text.slice(index + (insert === "" ? 1 : 0));
      });
    fc.assert(
      fc.property(broken, (text) => {
        const fault = dependencyFault("package.json", bytes(text));
        expect(fault === undefined).toBe(isJsonObject(text));
        if (fault) expect(fault.line).toBeLessThanOrEqual(text.split(/\r\n|\r|\n/).length);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["characters", "x".repeat(20_000_000)],
    ["escapes", "\\n".repeat(10_000_000)],
  ])("is told behind a string of millions of %s", (_what, value) => {
    const text = `{"a": "${value}" 1}`;
    expect(dependencyFault("package.json", bytes(text))).toEqual({
      line: 1,
      column: text.length - 1,
      cause: 'it is no JSON: unexpected "1"',
    });
  });

  it("is everything before the fault, which something could still complete", () => {
    const text = '{"a": [1, {"b": tru}]}';
    const { column } = dependencyFault("package.json", bytes(text))!;
    expect(text.slice(0, column - 1)).toBe('{"a": [1, {"b": ');
  });
});

describe("a package.json that is JSON, and that npm refuses all the same", () => {
  it.each(["null", "5", "true", '"lodash"'])("%s is no object", (text) => {
    const cause = "it is no object: write for example {}";
    expect(dependencyFault("package.json", bytes(text))).toEqual({ line: 1, column: 1, cause });
    expect(dependencyFault("package.json", bytes(`\n  ${text}\n`))).toEqual({ line: 2, column: 3, cause });
  });

  it.each(["{}", "[]", '\uFEFF{"name": "a"}', "  {}\r\n"])("%j is taken, as npm takes it", (text) => {
    expect(dependencyFault("package.json", bytes(text))).toBeUndefined();
  });

  it("UTF-16 is told as that, in either order of bytes", () => {
    const content = Buffer.from("\uFEFF{}", "utf16le");
    const fault = { line: 1, column: 1, cause: "it is UTF-16; save it as UTF-8" };
    expect(dependencyFault("package.json", content)).toEqual(fault);
    expect(dependencyFault("package.json", Buffer.from(content).swap16())).toEqual(fault);
  });
});

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object";
  } catch {
    return false;
  }
}

describe("requirements that are no text", () => {
  it.each([
    ["a byte that UTF-8 does not have", Buffer.from([0x61, 0x0a, 0x62, 0xff]), { line: 2, column: 2 }],
    ["Latin-1 in a comment", Buffer.from("one\ntwo # caf\u00e9", "latin1"), { line: 2, column: 10 }],
  ])("are told at their line: %s", (_name, content, place) => {
    expect(dependencyFault("requirements.txt", content)).toEqual({ ...place, cause: "it is no UTF-8 text" });
    expect(dependencyFault("constraints.txt", content)).toMatchObject(place);
  });

  it.each([
    ["UTF-8", bytes("a # caf\u00e9\n")],
    ["UTF-8 with a mark", bytes("\uFEFFa\n")],
    ["a replacement character that somebody wrote", bytes("# \uFFFD\n")],
    ["UTF-16, as PowerShell writes it", Buffer.from("\uFEFFrequests\r\n", "utf16le")],
    ["another encoding that is declared", Buffer.from("# -*- coding: latin-1 -*-\n# caf\u00e9\n", "latin1")],
    ["nothing", bytes("")],
  ])("are not: %s", (_name, content) => {
    expect(dependencyFault("requirements.txt", content)).toBeUndefined();
  });
});

it("a line of nothing but comment signs is looked through while nobody waits", () => {
  const content = Buffer.concat([Buffer.from("#".repeat(1_000_000)), Buffer.of(0xff)]);
  expect(dependencyFault("requirements.txt", content)).toMatchObject({ line: 1, column: 1_000_001 });
});

it("files whose content decides nothing are not looked into", () => {
  expect(dependencyFault("package-lock.json", bytes("{"))).toBeUndefined();
  expect(dependencyFault(".npmrc", Buffer.from([0xff]))).toBeUndefined();
});

it("text is decoded by its byte order mark", () => {
  const swapped = Buffer.from("\uFEFF-e .\n", "utf16le").swap16();
  expect(decodeText(Buffer.from("\uFEFF-e .\n", "utf16le"))).toBe("-e .\n");
  expect(decodeText(swapped)).toBe("-e .\n");
  expect(decodeText(bytes("\uFEFF-e .\n"))).toBe("-e .\n");
});
