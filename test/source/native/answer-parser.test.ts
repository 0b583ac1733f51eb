import fc from "fast-check";
import { expect, it } from "vitest";
import { type Answer, answerParser } from "../../../src/source/native/answer-parser.ts";

const id = "1".repeat(40);
const object = fc.uint8Array({ maxLength: 40 });
const objects = fc.array(fc.option(object, { nil: undefined }), { minLength: 1, maxLength: 10 });

it("takes answers apart however they are cut into chunks", () => {
  fc.assert(
    fc.property(objects, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (list, cuts) => {
      const output = Buffer.concat(
        list.map((content) =>
          content === undefined
            ? Buffer.from(`${id} missing\n`)
            : Buffer.concat([Buffer.from(`${id} blob ${content.length}\n`), content, Buffer.from("\n")]),
        ),
      );
      const answers: Answer[] = [];
      const take = answerParser({ maxBytes: () => 40, onAnswer: (answer) => answers.push(answer) });
      for (let at = 0, turn = 0; at < output.length; turn++) {
        const length = cuts[turn % cuts.length]!;
        take(output.subarray(at, at + length));
        at += length;
      }
      expect(answers.map(({ content }) => content)).toEqual(list);
    }),
  );
});

it("waits for no content where only types and sizes were asked for", () => {
  const answers: Answer[] = [];
  const take = answerParser({ maxBytes: () => undefined, onAnswer: (answer) => answers.push(answer) });
  take(Buffer.from(`${id} blob 3\n${id} tree 5\n`));
  expect(answers.map(({ words }) => words[1])).toEqual(["blob", "tree"]);
});

it.each([
  ["a line without end", "x".repeat(5000)],
  ["an object beyond the limit", `${id} blob 41\n`],
])("refuses %s", (_, output) => {
  const take = answerParser({ maxBytes: () => 40, onAnswer: () => {} });
  expect(() => take(Buffer.from(output))).toThrow();
});
