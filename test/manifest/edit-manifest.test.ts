import { describe, expect, it } from "vitest";
import type { ObjectIntent } from "../../src/apis/index.ts";
import { editManifest } from "../../src/manifest/index.ts";

type Spec = Readonly<Record<string, unknown>>;

function fn(spec: Spec, metadata: Partial<ObjectIntent["metadata"]> = {}): ObjectIntent {
  return { kind: "Function", metadata: { name: "hello", namespace: "demo", ...metadata }, spec };
}

const HEAD = "apiVersion: sless.kube5s.ru/v1alpha1\nkind: Function\nmetadata: {name: hello}\n";
const TRIGGER =
  "apiVersion: sless.kube5s.ru/v1alpha1\nkind: Trigger\nmetadata: {name: t}\nspec: {type: http, functionRef: hello}\n";

/** The spec's lines before, the wanted spec, and the spec's lines after. */
const edits: [string, string, Spec, string][] = [
  ["a value keeps the comment behind it", "  memoryMB: 128 # MiB\n", { memoryMB: 256 }, "  memoryMB: 256 # MiB\n"],
  ["double quotes stay", '  runtime: "a"\n', { runtime: "b" }, '  runtime: "b"\n'],
  ["single quotes stay", "  runtime: 'a'\n", { runtime: "it's" }, "  runtime: 'it''s'\n"],
  ["a plain text stays plain", "  runtime: a\n", { runtime: "b" }, "  runtime: b\n"],
  ["a text that YAML reads as something else is quoted", "  runtime: a\n", { runtime: "no" }, '  runtime: "no"\n'],
  [
    "a new field comes last, with the file's indentation",
    "    runtime: a\n    # why\n    memoryMB: 64\n",
    { runtime: "a", memoryMB: 64, env: { A: "b" } },
    "    runtime: a\n    # why\n    memoryMB: 64\n    env:\n      A: b\n",
  ],
  [
    "a new entry stands with its siblings, however deep they are",
    "  env:\n      A: b\n      # about c\n  runtime: a\n",
    { env: { A: "b", C: "d" }, runtime: "a" },
    "  env:\n      A: b\n      # about c\n      C: d\n  runtime: a\n",
  ],
  [
    "a field that is gone takes its line along, and no comment above it",
    "  runtime: a\n  # keep\n  memoryMB: 64 # gone\n  # tail\n",
    { runtime: "a" },
    "  runtime: a\n  # keep\n  # tail\n",
  ],
  ["a map that lost all is gone", "  runtime: a\n  env:\n    A: b\n", { runtime: "a" }, "  runtime: a\n"],
  [
    "a map that is empty is written so",
    "  env: # mine\n    A: b\n  runtime: a\n",
    { env: {}, runtime: "a" },
    "  env: {} # mine\n  runtime: a\n",
  ],
  ["an empty map is filled", "  env: {}\n", { env: { A: "b" } }, "  env: {A: b}\n"],
  [
    "all entries of a map are others",
    "  env:\n    A: b\n  runtime: a\n",
    { env: { C: "d" }, runtime: "a" },
    "  env:\n    C: d\n  runtime: a\n",
  ],
  ["a flow map stays one", "  env: {A: b, C: d}\n", { env: { A: "b", E: "f" } }, "  env: {A: b, E: f}\n"],
  ["the first entry of a flow map goes", "  env: { A: b, C: d }\n", { env: { C: "d" } }, "  env: { C: d }\n"],
  ["all entries of a flow map are others", "  env: {A: b, C: d}\n", { env: { E: "f" } }, "  env: {E: f}\n"],
  ["a trailing comma is no hindrance", "  env: {A: b,}\n", { env: { A: "b", C: "d" } }, "  env: {A: b, C: d,}\n"],
  [
    "a flow map over lines keeps its lines",
    "  env: {\n    A: b, # one\n    C: d\n  }\n",
    { env: { A: "b", C: "e", F: "g" } },
    "  env: {\n    A: b, # one\n    C: e, F: g\n  }\n",
  ],
  [
    "a file in JSON stays JSON",
    '  {"runtime": "a", "env": {"A": "b"}}\n',
    { runtime: "c", env: { A: "b", D: "e" }, memoryMB: 64 },
    '  {"runtime": "c", "env": {"A": "b", "D": "e"}, "memoryMB": 64}\n',
  ],
  [
    "a block text stays one",
    "  env:\n    A: |\n      one\n      two\n\n    B: c\n",
    { env: { A: "one\nthree\n", B: "c" } },
    "  env:\n    A: |\n      one\n      three\n\n    B: c\n",
  ],
  [
    "a block text that no block can hold is quoted",
    "  env:\n    A: |-\n      one\n      two\n    B: c\n",
    { env: { A: "a\u0007\n", B: "c" } },
    '  env:\n    A: "a\\u0007\\n"\n    B: c\n',
  ],
  [
    "a folded text stays one",
    "  env:\n    A: >\n      one\n      two\n    B: c\n",
    { env: { A: "x y\nz", B: "c" } },
    "  env:\n    A: >-\n      x y\n\n      z\n    B: c\n",
  ],
  [
    "a folded text is broken where its lines would grow long",
    "  env:\n    A: >-\n      one\n",
    { env: { A: `${"long ".repeat(20)}#  end` } },
    `  env:\n    A: >-\n      ${"long ".repeat(14)}long\n      ${"long ".repeat(5)}#  end\n`,
  ],
  [
    "a folded text of lines that are indented becomes one of lines",
    "  env:\n    A: >\n      one\n",
    { env: { A: "x\n  y\n" } },
    "  env:\n    A: |\n      x\n        y\n",
  ],
  [
    "a text over several lines becomes one of one",
    "  env:\n    A: one\n      two\n    B: c\n",
    { env: { A: "x", B: "c" } },
    "  env:\n    A: x\n    B: c\n",
  ],
  [
    "an alias is replaced, its anchor stays",
    "  env: {A: &a b, C: *a}\n",
    { env: { A: "b", C: "d" } },
    "  env: {A: &a b, C: d}\n",
  ],
  [
    "an anchored value changes without its aliases",
    "  env: {A: &a b, C: *a}\n",
    { env: { A: "d", C: "b" } },
    "  env: {A: &a d, C: b}\n",
  ],
  [
    "an alias stays that says what it is to say once its anchor is changed",
    "  env: {A: &a b, C: *a, D: *a}\n",
    { env: { A: "d", C: "d", D: "e" } },
    "  env: {A: &a d, C: *a, D: e}\n",
  ],
  [
    "a merged entry is overridden",
    "  env: &e {A: b}\n  x:\n    <<: *e\n    C: d\n",
    { env: { A: "b" }, x: { A: "z", C: "d" } },
    "  env: &e {A: b}\n  x:\n    <<: *e\n    C: d\n    A: z\n",
  ],
  [
    "a map whose merged entry goes is written anew",
    "  env: &e {A: b}\n  x:\n    # c\n    <<: *e\n    C: d\n  y: z\n",
    { env: { A: "b" }, x: { C: "d" }, y: "z" },
    "  env: &e {A: b}\n  x:\n    # c\n    C: d\n  y: z\n",
  ],
  ["an anchor goes that an alias needs", "  env: {A: &a b}\n  x: {C: *a}\n", { x: { C: "b" } }, "  x: {C: b}\n"],
  [
    "an ambiguous name is quoted",
    "  env:\n    A: b\n",
    { env: { A: "b", on: "1_000", "a.b/c": "~" } },
    '  env:\n    A: b\n    "on": "1_000"\n    a.b/c: "~"\n',
  ],
];

describe.each([
  ["line feeds", "\n"],
  ["CRLF", "\r\n"],
])("with %s", (_name, eol) => {
  const lines = (text: string) => text.replaceAll("\n", eol);

  it.each(edits)("%s", (_title, before, wanted, after) => {
    const [from, to] = [before, after].map((spec) => lines(`# head\n${HEAD}spec:\n${spec}# tail\n---\n${TRIGGER}`));
    expect(editManifest(from!, { change: [fn(wanted)] })).toBe(to);
    expect(editManifest(to!, { change: [fn(wanted)] })).toBe(to);
  });

  it.each(edits)("at the end of a file without a final line end: %s", (_title, before, wanted) => {
    const text = lines(`${HEAD}spec:\n${before}`).slice(0, -eol.length);
    const edited = editManifest(text, { change: [fn(wanted)] });
    expect(edited).toBeDefined();
    expect(edited!.replaceAll(eol, "")).not.toMatch(/[\r\n]/);
    if (!/[|>]-?\n/.test(before)) expect(edited!.endsWith("\n")).toBe(false);
  });

  it("labels and annotations come and go", () => {
    const text = lines(`${HEAD}spec: {runtime: a}\n`);
    const labelled = editManifest(text, { change: [fn({ runtime: "a" }, { labels: { team: "x" } })] });
    expect(labelled).toBe(text.replace("{name: hello}", "{name: hello, labels: {team: x}}"));
    expect(editManifest(labelled!, { change: [fn({ runtime: "a" })] })).toBe(text);
  });

  it("a document is added behind the last one", () => {
    const text = lines(`${HEAD}spec: {runtime: a}\n`);
    const trigger: ObjectIntent = {
      kind: "Trigger",
      metadata: { name: "t", namespace: "demo" },
      spec: { functionRef: "hello", type: "http" },
    };
    const block = TRIGGER.replace("{name: t}", "\n  name: t").replace(
      "{type: http, functionRef: hello}",
      "\n  type: http\n  functionRef: hello",
    );
    const expected = lines(`${text}---\n${block.replaceAll(": \n", ":\n")}`.replaceAll("\r\n", "\n"));
    expect(editManifest(text, { append: [trigger] })).toBe(expected);
    const cut = editManifest(text.slice(0, -eol.length), { append: [trigger] });
    expect(cut).toBe(expected.slice(0, -eol.length));
  });

  it("a document is removed with what it says alone", () => {
    const other = "# other\napiVersion: v1\nkind: Function\nmetadata: {name: hello}\n";
    const text = lines(`# licence\n\n${HEAD}spec: {runtime: a} # x\n---\n# about t\n${TRIGGER}---\n${other}`);
    const name = (kind: ObjectIntent["kind"], name: string) => ({ kind, metadata: { name } });
    expect(editManifest(text, { remove: [name("Trigger", "t")] })).toBe(
      lines(`# licence\n\n${HEAD}spec: {runtime: a} # x\n---\n${other}`),
    );
    expect(editManifest(text, { remove: [name("Function", "hello")] })).toBe(
      lines(`# licence\n\n---\n# about t\n${TRIGGER}---\n${other}`),
    );
    expect(editManifest(text, { remove: [name("Service", "hello")] })).toBeUndefined();
  });
});

it("nothing is left of a file whose only document goes", () => {
  const remove = [{ kind: "Function" as const, metadata: { name: "hello" } }];
  expect(editManifest(`# about\n---\n${HEAD}spec: {}\n---\n`, { remove })).toBe("");
});

it("a byte order mark stays", () => {
  const text = `\ufeff${HEAD}spec: {runtime: a}\n`;
  expect(editManifest(text, { change: [fn({ runtime: "b" })] })).toBe(text.replace("a}", "b}"));
});

it.each([
  ["a file that does not parse", `${HEAD}spec: [`],
  ["a file without the object", TRIGGER],
  ["an object of another group", HEAD.replace("sless.kube5s.ru", "example.com")],
])("%s is not edited", (_what, text) => {
  expect(editManifest(text, { change: [fn({ x: { C: "b" } })] })).toBeUndefined();
});
