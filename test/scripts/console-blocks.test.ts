import { expect, it } from "vitest";
import { consoleSteps, holdsLines, matchesOutput } from "../../scripts/console-blocks.ts";

const PAGE = `
# Title
\`\`\`console
$ first \\
    --with more
one
two
$ second
\`\`\`
\`\`\`sh
not a step
\`\`\`
\`\`\`console
only output
\`\`\`
`;

it("commands, their outputs and blocks of the server are told apart, with their lines", () => {
  expect(consoleSteps(PAGE)).toEqual([
    { kind: "command", command: "first \\\n    --with more", expected: ["one", "two"], line: 4 },
    { kind: "command", command: "second", expected: [], line: 8 },
    { kind: "server", expected: ["only output"], line: 14 },
  ]);
});

const matching: [string, string[], string[], boolean][] = [
  ["equal lines", ["a", "b"], ["a", "b"], true],
  ["a line more", ["a", "b"], ["a"], false],
  ["a line less", ["a"], ["a", "b"], false],
  ["any lines between", ["a", "x", "y", "b"], ["a", "…", "b"], true],
  ["any text in a line", ["at 12 o'clock"], ["at … o'clock"], true],
  ["other durations", ["built 12ms → serving 1.2s"], ["built 7ms → serving 160ms"], true],
  ["another commit", ["main@sha1:0123456"], ["main@sha1:abcdef0"], true],
  ["other padding", ["hello   Ready"], ["hello Ready"], true],
  ["another word", ["hello Failed"], ["hello Ready"], false],
];
it.each(matching)("%s: matches is %j", (_name, seen, expected, result) => {
  expect(matchesOutput(seen, expected)).toBe(result);
});

it("lines may stand among others, but in order", () => {
  expect(holdsLines(["x", "a", "y", "b", "z"], ["a", "b"])).toBe(true);
  expect(holdsLines(["b", "a"], ["a", "b"])).toBe(false);
});
