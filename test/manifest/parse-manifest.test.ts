import { describe, expect, it } from "vitest";
import { MANIFEST_MAX_CHARACTERS, MANIFEST_MAX_DOCUMENTS } from "../../src/manifest/index.ts";
import { FILE, functionYaml, linesOf, parse, triggerYaml } from "./manifests.ts";

const HELLO = {
  kind: "Function",
  metadata: { name: "hello", namespace: "default" },
  spec: { runtime: "python3.11" },
};

describe("a valid file", () => {
  it("gives its objects as they are written, without defaults, with the namespace and their place", () => {
    const { objects, diagnostics, named } = parse(`# greets\n${functionYaml()}---\n${triggerYaml()}`);
    expect(diagnostics).toEqual([]);
    expect(objects.map(({ object, position }) => ({ ...object, position }))).toEqual([
      { ...HELLO, position: { line: 3, column: 1 } },
      {
        kind: "Trigger",
        metadata: { name: "hello-http", namespace: "default" },
        spec: { type: "http", functionRef: "hello" },
        position: { line: 9, column: 1 },
      },
    ]);
    expect(named).toEqual([
      { kind: "Function", namespace: "default", name: "hello" },
      { kind: "Trigger", namespace: "default", name: "hello-http" },
    ]);
  });

  it.each<[string, string]>([
    ["a byte order mark", `\ufeff${functionYaml()}`],
    ["CRLF", functionYaml().replaceAll("\n", "\r\n")],
    [
      "JSON",
      JSON.stringify({
        apiVersion: "sless.kube5s.ru/v1alpha1",
        kind: "Function",
        metadata: { name: "hello" },
        spec: HELLO.spec,
      }),
    ],
    ["empty documents and comments around", `---\n# nothing\n---\n${functionYaml()}...\n---\n`],
    [
      "documents of other groups beside",
      `apiVersion: v1\nkind: Secret\nstringData: {A: yes, a: 1, a: 2}\n---\n${functionYaml()}`,
    ],
    ["the repository's own namespace", functionYaml().replace("{name: hello}", "{name: hello, namespace: default}")],
    ["explicit text tags", functionYaml().replace("hello", "!!str hello")],
    ["a YAML directive", `%YAML 1.2\n---\n${functionYaml()}`],
    ["no line break at the end", functionYaml().trimEnd()],
  ])("may have %s", (_what, text) => {
    const { objects, diagnostics } = parse(text);
    expect(diagnostics).toEqual([]);
    expect(objects.map(({ object }) => object)).toEqual([HELLO]);
  });

  it("keeps labels, annotations and the switches that are the user's", () => {
    const metadata = `{name: hello, labels: {team: a}, annotations: {example.com/x: "1", sless.kube5s.ru/prune: disabled}}`;
    const { objects, diagnostics } = parse(functionYaml().replace("{name: hello}", metadata));
    expect(diagnostics).toEqual([]);
    expect(objects[0]!.object.metadata).toEqual({
      name: "hello",
      namespace: "default",
      labels: { team: "a" },
      annotations: { "example.com/x": "1", "sless.kube5s.ru/prune": "disabled" },
    });
  });

  it("reads all kinds of texts as they are meant", () => {
    const { objects } = parse(
      functionYaml(
        `  env:\n    A: "yes"\n    B: '017'\n    C: |\n      two\n      lines\n    D: plain text\n    E: "a\\tb"\n    F: ""\n`,
      ),
    );
    expect(objects[0]!.object.spec).toMatchObject({
      env: { A: "yes", B: "017", C: "two\nlines\n", D: "plain text", E: "a\tb", F: "" },
    });
  });

  it("follows anchors, aliases and merge keys; what stands in the map itself wins", () => {
    const { objects, diagnostics } = parse(
      functionYaml(`  env: &env {A: "1", B: "2"}\n`) +
        `---\n${functionYaml(`  env:\n    <<: {A: "9", B: "3"}\n    A: "1"\n  secretEnv: {T: &t {secret: s, key: k}, U: *t}\n`)}`,
    );
    expect(diagnostics).toEqual([]);
    expect(objects[0]!.object.spec).toMatchObject({ env: { A: "1", B: "2" } });
    expect(objects[1]!.object.spec).toMatchObject({
      env: { A: "1", B: "3" },
      secretEnv: { T: { secret: "s", key: "k" }, U: { secret: "s", key: "k" } },
    });
  });

  it("tells the place of a field later, the nearest enclosing one when it is not there", () => {
    const [, hello] = parse(`${triggerYaml()}---\n${functionYaml("  sourceDir: src\n  env:\n    A: b\n")}`).objects;
    expect(hello!.positionOf(["spec", "sourceDir"])).toEqual({ line: 11, column: 3 });
    expect(hello!.positionOf(["spec", "env", "A"])).toEqual({ line: 13, column: 5 });
    expect(hello!.positionOf(["spec", "env", "missing"])).toEqual({ line: 12, column: 3 });
    expect(hello!.positionOf(["spec", "entrypoint"])).toEqual({ line: 9, column: 1 });
    expect(hello!.positionOf([])).toEqual({ line: 6, column: 1 });
    expect(hello!.positionOf(["spec", "runtime", "deeper", 3])).toEqual({ line: 10, column: 3 });
  });
});

describe("a faulty file", () => {
  it("tells all faults at once, in the order of their places", () => {
    const text = functionYaml("  memoryMb: 128\n  timeoutSec: 5000\n  env: {PORT: x}\n  s3Key: k\n").replace(
      "python3.11",
      "pyton3.11",
    );
    expect(linesOf(parse(text))).toEqual([
      '5:3 manifest_invalid spec.runtime: "pyton3.11" is no runtime here; known: go1.23, nodejs20, python3.11; did you mean python3.11?',
      "6:3 manifest_invalid spec.memoryMb: unknown field; did you mean memoryMB?",
      "7:3 manifest_invalid spec.timeoutSec: 5000 is out of range: wants 1 to 900",
      "9:3 manifest_invalid spec.s3Key: is set by sless after the source is stored; remove it",
    ]);
    expect(parse(text).diagnostics[0]).toHaveProperty("file", FILE);
  });

  it("still lists its valid documents, and names the invalid ones as far as they can be read", () => {
    const { objects, named } = parse(
      `${functionYaml("  memoryMB: 1\n")}---\n${triggerYaml()}---\nkind: Service\n---\nkind: Job\n`,
    );
    expect(objects.map(({ object }) => object.kind)).toEqual(["Trigger"]);
    expect(named.map(({ kind, name }) => `${kind}/${name}`)).toEqual(["Function/hello", "Trigger/hello-http"]);
  });

  it("names what a document that does not parse still tells", () => {
    const { objects, named } = parse(functionYaml("  env: {A: [1}\n"));
    expect(objects).toEqual([]);
    expect(named).toEqual([{ kind: "Function", namespace: "default", name: "hello" }]);
  });

  it("tells a hundred faults and counts the others", () => {
    const fields = Array.from({ length: 130 }, (_, index) => `  field${index}: 1\n`).join("");
    const { diagnostics } = parse(functionYaml(fields));
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(-1)).toEqual({
      code: "manifest_invalid",
      file: FILE,
      message: "30 more faults in this file",
    });
  });

  it.each<[string, string, string[]]>([
    [
      "an unknown kind suggests the nearest",
      functionYaml().replace("Function", "Funktion"),
      [
        "2:1 kind_unknown Funktion is no kind of this group. Use one of Function, Service, FunctionJob, Trigger (did you mean Function?).",
      ],
    ],
    [
      "a Repository may not stand in a repository",
      functionYaml().replace("Function", "Repository"),
      ["2:1 kind_not_allowed A Repository may not stand in a repository. Create it with the API or `sless`."],
    ],
    [
      "another version of the group is told with the right one",
      functionYaml().replace("v1alpha1", "v2"),
      ["1:1 manifest_invalid apiVersion: sless.kube5s.ru/v2 is not known; write apiVersion: sless.kube5s.ru/v1alpha1"],
    ],
    [
      "a missing apiVersion is told with the right one",
      functionYaml().replace(/^.*\n/, ""),
      ["1:1 manifest_invalid apiVersion: is missing; add apiVersion: sless.kube5s.ru/v1alpha1"],
    ],
    [
      "a missing kind is told",
      functionYaml().replace("kind: Function\n", ""),
      ["1:1 manifest_invalid kind: is missing; add one of Function, Service, FunctionJob, Trigger"],
    ],
    [
      "a missing spec and name are told",
      "apiVersion: sless.kube5s.ru/v1alpha1\nkind: Function\nmetadata: {}\n",
      ["1:1 manifest_invalid spec is missing; add it", "3:1 manifest_invalid metadata: name is missing; add it"],
    ],
    [
      "an empty spec is told",
      `${functionYaml().split("spec:")[0]}spec:\n`,
      ["4:1 manifest_invalid spec: is empty; give it a value"],
    ],
    [
      "a list is no manifest",
      "- a\n",
      ["1:1 manifest_invalid a manifest is a map of apiVersion, kind, metadata and spec; write one"],
    ],
    [
      "another namespace is refused",
      functionYaml().replace("{name: hello}", "{name: hello, namespace: other}"),
      ["3:25 namespace_foreign namespace other is not the repository's (default). Remove metadata.namespace."],
    ],
    [
      "a name that is no DNS label is refused",
      functionYaml().replace("{name: hello}", "{name: Hello_1}"),
      [
        '3:12 manifest_invalid metadata.name: "Hello_1" is no DNS label: use lower-case letters, digits and "-", starting with a letter',
      ],
    ],
    [
      "a sourceDir that escapes is refused",
      functionYaml("  sourceDir: ../other\n"),
      [
        `6:3 manifest_invalid spec.sourceDir: "../other" leaves the manifest's folder; name a folder below it, or move the manifest up`,
      ],
    ],
    [
      "a wrong enum suggests the nearest",
      triggerYaml("{type: htpp, functionRef: hello}"),
      ['4:8 manifest_invalid spec.type: "htpp" is none of http, cron, event; did you mean http?'],
    ],
    [
      "rules between fields are told",
      triggerYaml("{type: cron, functionRef: hello, queue: q}"),
      [
        "4:1 manifest_invalid spec: a trigger of type cron needs schedule; add spec.schedule",
        "4:40 manifest_invalid spec.queue: queue belongs to triggers of type event, this one is cron; remove it or change the type",
      ],
    ],
    [
      "a schedule that never fires and a time zone that is none are told with their places",
      triggerYaml('{type: cron, functionRef: hello, schedule: "0 0 30 2 *", timeZone: Europe/Pariss}'),
      [
        '4:40 manifest_invalid spec.schedule: "0 0 30 2 *" never fires, for no such day exists; correct the day or the month',
        '4:64 manifest_invalid spec.timeZone: "Europe/Pariss" is no time zone; did you mean Europe/Paris?',
      ],
    ],
    [
      "a number in quotes is told without",
      functionYaml(`  memoryMB: "256"\n`),
      ['6:3 manifest_invalid spec.memoryMB: wants an integer, not "256"; write 256 without quotes'],
    ],
  ])("%s", (_what, text, expected) => {
    expect(linesOf(parse(text))).toEqual(expected);
  });

  it.each<[string, string, string]>([
    ["repository", "labels", "metadata.labels.sless.kube5s.ru/repository: is set by sless itself; remove it"],
    ["owner", "annotations", "metadata.annotations.sless.kube5s.ru/owner: is set by sless itself; remove it"],
    [
      "pruen",
      "annotations",
      "metadata.annotations.sless.kube5s.ru/pruen: no annotation of sless; did you mean sless.kube5s.ru/prune?",
    ],
    [
      "prune",
      "annotations",
      'metadata.annotations.sless.kube5s.ru/prune: "x" is neither enabled nor disabled; write one of them',
    ],
  ])("our own mark %s in %s is refused", (key, where, expected) => {
    const text = functionYaml().replace("{name: hello}", `{name: hello, ${where}: {sless.kube5s.ru/${key}: x}}`);
    expect(parse(text).diagnostics.map(({ message }) => message)).toEqual([expected]);
  });

  it("labels and annotations that a cluster would refuse are told", () => {
    const metadata = `{name: hello, labels: {"a b": c, d: e f, "${"x".repeat(64)}": y}, annotations: {"/x": y, ok: any text}}`;
    const paths = parse(functionYaml().replace("{name: hello}", metadata)).diagnostics.map(
      ({ message }) => message.split(":")[0],
    );
    expect(paths).toEqual([
      "metadata.labels.a b",
      "metadata.labels.d",
      `metadata.labels.${"x".repeat(64)}`,
      "metadata.annotations./x",
    ]);
  });
});

describe("words that YAML versions read differently", () => {
  const messageOf = (line: string) => parse(functionYaml(`${line}\n`)).diagnostics.map(({ message }) => message);

  it.each([
    ["yes", '"yes"'],
    ["No", '"No"'],
    ["on", '"on"'],
    ["OFF", '"OFF"'],
    ["y", '"y"'],
    ["017", '"017"'],
    ["0o17", '"0o17"'],
    ["1_000", '"1_000"'],
    ["12:30:00", '"12:30:00"'],
    ["2024-01-01", '"2024-01-01"'],
    ["1e3", '"1e3"'],
    [".inf", '".inf"'],
    ["~", '"~"'],
    ["null", '"null"'],
    ["true", '"true"'],
    ["8080", '"8080"'],
    ["1.10", '"1.10"'],
    ["-5", '"-5"'],
  ])("%s where a text is wanted is told as %s", (text, quoted) => {
    const { diagnostics } = parse(functionYaml(`  env:\n    A: ${text}\n`));
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ code: "yaml_ambiguous", line: 7, column: 5 });
    expect(diagnostics[0]!.message).toContain(`spec.env.A: ${text} is not what it looks like`);
    expect(diagnostics[0]!.message).toMatch(new RegExp(` Write ${quoted.replaceAll(".", "\\.")}\\.$`));
  });

  it.each([
    [
      "memoryMB: 1_000",
      "spec.memoryMB: 1_000 is not what it looks like: a number in YAML 1.1, a text in YAML 1.2. Write 1000.",
    ],
    [
      "memoryMB: 0x80",
      "spec.memoryMB: 0x80 is not what it looks like: a number that tools read differently. Write 128.",
    ],
    [
      "replicas: 010",
      "spec.replicas: 010 is not what it looks like: an octal number in YAML 1.1, a decimal one in YAML 1.2. Write 10 or 8.",
    ],
    ["replicas: yes", "spec.replicas: wants a value of type integer, not yes"],
    [
      "runtime2: yes",
      'spec.runtime2: yes is not what it looks like: a boolean in YAML 1.1, a text in YAML 1.2. Write "yes".',
    ],
  ])("%s is told in the type that is wanted", (line, expected) => {
    expect(messageOf(`  ${line}`)[0]).toBe(expected);
  });

  it("a boolean word where a boolean is wanted is told as true or false", () => {
    const { diagnostics } = parse(triggerYaml("{type: http, functionRef: hello, enabled: yes}"));
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "spec.enabled: yes is not what it looks like: a boolean in YAML 1.1, a text in YAML 1.2. Write true.",
    ]);
  });

  it.each([
    ["on", '"on":'],
    ["1", '"1":'],
    ["true", '"true":'],
  ])("the key %s is told as %s", (key, quoted) => {
    expect(messageOf(`  env: {${key}: "x"}`)[0]).toContain(`Write ${quoted}.`);
  });

  it("a value that is empty is told as empty", () => {
    expect(messageOf("  env: {A: }")).toEqual(["spec.env.A: is empty; give it a value"]);
  });
});

describe("YAML that does not parse", () => {
  it.each<[string, string, RegExp]>([
    ["a tab that indents", "\tenv: {}\n", /^6:1 yaml_syntax .*a tab indents nothing in YAML; use spaces/],
    ["a bracket that does not close", "  env: {A: b\n", /^\d+:\d+ yaml_syntax The YAML does not parse: Flow map/],
    [
      "a quote that does not close",
      "  env: {A: 'b}\n",
      /^\d+:\d+ yaml_syntax The YAML does not parse: Missing closing 'quote/,
    ],
    [
      "a duplicate key",
      "  memoryMB: 128\n  memoryMB: 256\n",
      /^7:3 yaml_syntax spec.memoryMB: the key stands there twice; remove one of them$/,
    ],
    [
      "an alias without an anchor",
      "  env: {A: *x}\n",
      /^6:12 yaml_syntax spec.env.A: no anchor &x stands before the alias \*x; add it$/,
    ],
    ["an alias within its own anchor", "  env: &x {A: *x}\n", /^6:15 yaml_syntax spec.env.A: no anchor &x/],
    ["an unknown tag", "  env: !secret {A: b}\n", /^6:8 yaml_syntax .*tag !secret is not known here; remove it/],
    [
      "a merge of what is no map",
      "  env: {<<: text}\n",
      /^6:9 yaml_syntax spec.env: << wants the alias of a map, or a list of them$/,
    ],
    [
      "a key that is no text",
      "  env: {[a]: b}\n",
      /^6:9 yaml_syntax spec.env: a key must be a text; write it in quotes$/,
    ],
    ["a NUL in a text", '  env: {A: "\\0"}\n', /^6:9|^6:12 yaml_syntax spec.env.A: holds \\0/],
    ["half a surrogate pair", '  env: {A: "\\ud800"}\n', /^6:12 yaml_syntax spec.env.A: holds/],
    ["a control character", "  env: {A: a\x07b}\n", /^6:13 yaml_syntax .*control character U\+0007; remove it/],
    ["bytes that are no UTF-8", "  env: {A: a\ufffdb}\n", /^6:13 yaml_syntax .*no UTF-8.*; save the file as UTF-8/],
  ])("%s is told with its place", (_what, lines, expected) => {
    expect(linesOf(parse(functionYaml(lines)))[0]).toMatch(expected);
  });

  it("does not hide the faults of the file's other documents", () => {
    const lines = linesOf(
      parse(`${functionYaml("  env: {A: 'b}\n").trimEnd()}'\n---\n${functionYaml("  memoryMB: 1\n")}`),
    );
    expect(lines.at(-1)).toMatch(/spec\.memoryMB: 1 is out of range/);
  });
});

describe("bounds", () => {
  it("a file beyond the limit is refused unread", () => {
    const { objects, diagnostics } = parse(functionYaml(`# ${"x".repeat(MANIFEST_MAX_CHARACTERS)}`));
    expect(objects).toEqual([]);
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      "manifest_too_large The manifest is larger than 256 KiB. Split it.",
    ]);
  });

  it("documents beyond the limit are refused, those before it are named", () => {
    const { named, diagnostics } = parse(`${triggerYaml()}---\n`.repeat(MANIFEST_MAX_DOCUMENTS + 5));
    expect(named).toHaveLength(MANIFEST_MAX_DOCUMENTS);
    expect(diagnostics.map(({ message }) => message)).toEqual(["The manifest is larger than 200 documents. Split it."]);
  });

  it.each([
    ["a number of 100,000 digits", `  env: {A: ${"1".repeat(100_000)}}\n`],
    ["a key of 100,000 characters", `  ${"k".repeat(1_000)}: 1\n  "${"k".repeat(100_000)}": 1\n`],
    ["an alias of 100,000 characters", `  env: {A: *${"a".repeat(100_000)} }\n`],
    ["a value of 100,000 characters", `  entrypoint: ${"e".repeat(100_000)}\n`],
  ])("%s makes no long message", (_what, lines) => {
    const { diagnostics } = parse(functionYaml(lines));
    expect(diagnostics.length).toBeGreaterThan(0);
    for (const { message } of diagnostics) expect(message.length).toBeLessThanOrEqual(500);
  });

  it("a bomb of aliases is refused, not expanded", () => {
    const levels = Array.from({ length: 9 }, (_, level) => {
      const items = level === 0 ? "x" : `*l${level - 1}`;
      return `l${level}: &l${level} [${Array.from({ length: 10 }, () => items).join(", ")}]\n`;
    });
    const { diagnostics } = parse(levels.join("") + functionYaml());
    expect(diagnostics[0]!.message).toContain("the document has more than 20000 values");
  });

  it.each([
    ["brackets", "[".repeat(40_000)],
    ["braces", "{a: ".repeat(10_000)],
    ["dashes", "- ".repeat(40_000)],
    ["nested maps", Array.from({ length: 400 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("")],
  ])("%s nested without end are refused", (_what, text) => {
    expect(parse(text).diagnostics.map(({ code }) => code)).toContain("yaml_syntax");
  });

  it.each(["[", "- ", "|\n", "a\n", "{", "&a *a "])("a file of nothing but %j is refused unparsed", (mark) => {
    const text = functionYaml(mark.repeat(Math.floor(250_000 / mark.length)));
    expect(linesOf(parse(text))).toEqual([
      "1:1 manifest_too_large The manifest is larger than 150000 words and marks of YAML. Split it.",
    ]);
  });

  it("the largest manifest of short names and values is read", () => {
    const env = Array.from({ length: 65 }, (_, at) => `    V_${at}: v${at}\n`).join("");
    const document = (at: number) => functionYaml(`  env:\n${env}`).replace("name: hello", `name: f${at}`);
    const { objects, diagnostics } = parse(Array.from({ length: 200 }, (_, at) => document(at)).join("---\n"));
    expect(diagnostics).toEqual([]);
    expect(objects).toHaveLength(200);
  });

  it("of a text that is no YAML any more not all is told", () => {
    const { objects, diagnostics } = parse(functionYaml(`  env: {}\n${"]".repeat(90_000)}`));
    expect(objects).toEqual([]);
    expect(diagnostics[0]).toMatchObject({ code: "yaml_syntax", line: 7 });
    expect(diagnostics.length).toBeLessThanOrEqual(110);
  });

  it("a file as large as one may be, of lines that people write, is read", () => {
    const env = Array.from({ length: 100 }, (_, at) => `    NAME_${at}: value ${at}\n`).join("");
    const document = `${functionYaml(`  env:\n${env}`)}---\n`;
    const text = document.repeat(Math.floor(MANIFEST_MAX_CHARACTERS / document.length));
    expect(parse(text).diagnostics).toEqual([]);
  });
});
