import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { parseManifest } from "../../src/manifest/index.ts";
import { functionYaml, parse, RUNTIMES, triggerYaml } from "./manifests.ts";

/** Pieces of YAML that decide how what follows is read. */
const pieces = fc.constantFrom(
  ..."[ ] { } , : ? - # & * ! | > ' \" % @ ` \n \t \r ~ << --- ... &a *a !!str !!map - ? yes 017 1_000 :: apiVersion kind".split(
    " ",
  ),
  "\n",
  "\n---\n",
  "\n  ",
  "\t",
  "\r\n",
  "\ufeff",
  "apiVersion: sless.kube5s.ru/v1alpha1\n",
  "kind: Function\n",
  "spec:\n",
  "__proto__: {a: b}\n",
);
const yamlLike = fc
  .array(fc.oneof(pieces, fc.string({ unit: "grapheme", maxLength: 6 })), { maxLength: 60 })
  .map((parts) => parts.join(""));
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  yamlLike,
);

/** A valid file in which a piece is cut out and another text put in. */
const mutated = fc
  .record({
    text: fc.constantFrom(functionYaml("  env: {A: b}\n  memoryMB: 256\n"), `${functionYaml()}---\n${triggerYaml()}`),
    at: fc.nat(400),
    cut: fc.nat(12),
    put: fc.oneof(pieces, fc.string({ maxLength: 8 })),
  })
  .map(({ text, at, cut, put }) => text.slice(0, at % text.length) + put + text.slice((at % text.length) + cut));

describe.each([
  ["any text", anyText],
  ["a manifest with a part replaced", mutated],
])("%s", (_what, texts) => {
  it("is read or told faulty, at places that exist, and never throws", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { objects, diagnostics, named } = parse(text);
        const lines = text.split("\n");
        for (const { line = 1, column = 1, message, file } of diagnostics) {
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
          expect(message.length).toBeGreaterThan(0);
          expect(file).toBe("functions/hello/function.yaml");
        }
        for (const { object, position, positionOf } of objects) {
          expect(object.metadata.namespace).toBe("default");
          expect(positionOf(["kind"])).toEqual(position);
        }
        expect(objects.length).toBeLessThanOrEqual(named.length);
      }),
      { numRuns: 500 },
    );
  });

  it("is read the same every time", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(JSON.stringify(parse(text))).toBe(JSON.stringify(parse(text)));
      }),
      { numRuns: 200 },
    );
  });
});

it("what is written as YAML is read as it was", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/);
  const variable = fc
    .stringMatching(/^[A-Z][A-Z0-9]{0,10}$/)
    .filter((key) => key !== "PORT" && !/^(?:Y|N|ON|NO|YES|OFF|TRUE|FALSE|NULL)$/.test(key));
  const text = fc.string({ unit: "grapheme", maxLength: 30 }).filter((value) => !/[^\P{Cc}\t\n]|\ufffd/u.test(value));
  const spec = fc.record({
    runtime: fc.constantFrom(...RUNTIMES),
    memoryMB: fc.integer({ min: 32, max: 10240 }),
    env: fc.dictionary(variable, text, { maxKeys: 5, noNullPrototype: true }),
  });
  fc.assert(
    fc.property(name, spec, (hello, wanted) => {
      const document = {
        apiVersion: "sless.kube5s.ru/v1alpha1",
        kind: "Function",
        metadata: { name: hello },
        spec: wanted,
      };
      // The other tools' rules decide what is put in quotes.
      const written = stringify(document, {
        version: "1.1",
        defaultStringType: "QUOTE_DOUBLE",
        defaultKeyType: "PLAIN",
      });
      const { objects, diagnostics } = parseManifest({
        file: "f",
        text: written,
        namespace: "default",
        runtimes: RUNTIMES,
      });
      expect(diagnostics).toEqual([]);
      expect(objects[0]!.object.spec).toEqual(wanted);
    }),
    { numRuns: 300 },
  );
});
