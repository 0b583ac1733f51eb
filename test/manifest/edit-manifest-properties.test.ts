import fc from "fast-check";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import type { ObjectIntent } from "../../src/apis/index.ts";
import { editManifest, manifestFields, renderManifest } from "../../src/manifest/index.ts";
import { parse } from "./manifests.ts";

/** Texts of any script, with what YAML takes for syntax, numbers and words of its own. */
const text = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(..."ab01 :#-,'\"{}[]&*!|>%@~\n\t\r\\_.Ω"), maxLength: 12 }),
    fc.constantFrom(
      "yes",
      "0b1",
      "1_0",
      "2024-01-01",
      "null",
      "~",
      "<<",
      "a\nb\n",
      "a\n\nb",
      " a\n",
      "a\n\n",
      "\u0085",
      "\ufffd",
    ),
  )
  .filter((value) => !value.includes("\0"));
const name = fc.constantFrom("A", "B", "C", "on", "_1", "NO", "N");
const secret = fc.record({ secret: fc.constantFrom("api", "db"), key: fc.constantFrom("token", "1_0", "on") });
const optional = { requiredKeys: ["runtime"] as "runtime"[] };
const spec = fc.record(
  {
    runtime: fc.constantFrom("python3.11", "nodejs20"),
    memoryMB: fc.integer({ min: 32, max: 10_240 }),
    env: fc.dictionary(name, text, { maxKeys: 4, noNullPrototype: true }),
    secretEnv: fc.dictionary(fc.constantFrom("S", "T", "y"), secret, { maxKeys: 2, noNullPrototype: true }),
    sourceDir: fc.constantFrom("src", "./x y", "ä/ö"),
  },
  optional,
);
const intent = fc
  .record({
    spec,
    labels: fc.option(
      fc.dictionary(fc.constantFrom("team", "a.b/c"), fc.constantFrom("x", "on", "1"), { noNullPrototype: true }),
      { nil: undefined },
    ),
    annotations: fc.option(fc.dictionary(fc.constantFrom("note", "y"), text, { noNullPrototype: true }), {
      nil: undefined,
    }),
  })
  .map(
    ({ spec, labels, annotations }): ObjectIntent => ({
      kind: "Function",
      metadata: {
        name: "hello",
        namespace: "default",
        ...(labels && { labels }),
        ...(annotations && { annotations }),
      },
      spec,
    }),
  );

/** What may not stand in a manifest as it is. */
const escaped = (json: string) =>
  json.replaceAll(/[\x7f\ufffd]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
const IN_QUOTES = { indent: 4, defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "QUOTE_DOUBLE" } as const;

/** The same object as different people write it. */
const STYLES: readonly ((intent: ObjectIntent) => string)[] = [
  (one) => renderManifest(one),
  (one) => escaped(`${JSON.stringify(manifestFields(one), null, 2)}\n`),
  (one) => escaped(JSON.stringify(manifestFields(one))),
  (one) => `# head\n---\n${renderManifest(one)}# tail`,
  (one) => `\ufeff${renderManifest(one, "\r\n")}`,
  (one) => escaped(stringify(manifestFields(one), IN_QUOTES)),
];
const style = fc.constantFrom(...STYLES);

function objectIn(manifest: string | undefined): ObjectIntent | undefined {
  expect(manifest).toBeDefined();
  const { objects, diagnostics } = parse(manifest!);
  expect(diagnostics).toEqual([]);
  return objects[0]?.object;
}

it("a manifest that was written for an object says that object", () => {
  fc.assert(
    fc.property(intent, style, (one, write) => {
      expect(objectIn(write(one))).toEqual(one);
    }),
    { numRuns: 300 },
  );
});

it("a manifest says what it was changed to, and says it in the same text when changed again", () => {
  fc.assert(
    fc.property(intent, intent, style, (from, to, write) => {
      const edited = editManifest(write(from), { change: [to] });
      expect(objectIn(edited)).toEqual(to);
      expect(editManifest(edited!, { change: [to] })).toBe(edited);
    }),
    { numRuns: 500 },
  );
});

/** Lines of words, some long, some with more than a blank between them. */
const prose = fc
  .array(
    fc.oneof(
      text,
      fc.constantFrom("", "a  b", "- c", "#", "a: b", "w".repeat(90)),
      fc.array(fc.constantFrom("one", "#two", "> three", "öä"), { maxLength: 40 }).map((words) => words.join(" ")),
    ),
    { maxLength: 5 },
  )
  .map((lines) => lines.join("\n"));
const FOLDED = (eol: string) => renderManifest(bare({}), eol) + ["  env:", "    A: >-", "      b c", ""].join(eol);
const bare = (env: Readonly<Record<string, string>>): ObjectIntent => ({
  kind: "Function",
  metadata: { name: "hello", namespace: "default" },
  spec: { runtime: "python3.11", ...(Object.keys(env).length > 0 && { env }) },
});

it("a folded text says what it was changed to, whatever that is", () => {
  fc.assert(
    fc.property(prose, fc.constantFrom("\n", "\r\n"), (wanted, eol) => {
      const edited = editManifest(FOLDED(eol), { change: [bare({ A: wanted })] });
      expect(objectIn(edited)).toEqual(bare({ A: wanted }));
    }),
    { numRuns: 500 },
  );
});

it("a change to what stands there already changes no byte", () => {
  fc.assert(
    fc.property(intent, style, (one, write) => {
      expect(editManifest(write(one), { change: [one] })).toBe(write(one));
    }),
    { numRuns: 300 },
  );
});

const COMMENTED = `# c1
apiVersion: sless.kube5s.ru/v1alpha1
# c2
kind: Function # d1
metadata: # d2
  # c3
  name: hello
  # c4
spec:
  # c5
  runtime: go1.23
  # c6
  memoryMB: 64
  # c7
  env: # d3
    # e1
    A: "1"
  # c8
# c9
---
apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: t} # T
spec: {type: http, functionRef: hello}
`;

it("comments and other documents survive every change", () => {
  fc.assert(
    fc.property(intent, (to) => {
      const edited = editManifest(COMMENTED, { change: [to] })!;
      expect(objectIn(edited)).toEqual(to);
      expect(edited.match(/# [cd]\d/g)?.filter((comment) => comment !== "# d3")).toEqual(
        COMMENTED.match(/# [cd]\d/g)!.filter((comment) => comment !== "# d3"),
      );
      expect(edited).toContain("{name: t} # T\nspec: {type: http, functionRef: hello}\n");
    }),
    { numRuns: 300 },
  );
});
