import fc from "fast-check";
import { expect, it } from "vitest";
import { isYamlName, looksLikeManifest } from "../../src/manifest/index.ts";

const OURS = "apiVersion: sless.kube5s.ru/v1alpha1";

it.each([
  ["function.yaml", true],
  ["a/b/values.yml", true],
  ["A.YAML", true],
  ["handler.py", false],
  ["yaml", false],
  ["function.yaml.bak", false],
])("%s has the name of a YAML file: %s", (path, expected) => {
  expect(isYamlName(path)).toBe(expected);
});

it.each<[string, string, string, boolean]>([
  ["a fixed name with our group", "functions/a/function.yaml", `${OURS}\nkind: Function\n`, true],
  ["a fixed name, .yml too", "trigger.yml", OURS, true],
  ["a fixed name without any apiVersion", "service.yaml", "kind: Service\n", true],
  ["an empty file of a fixed name", "job.yaml", "", true],
  ["a fixed name with a broken text", "function.yaml", "{{{", true],
  ["a fixed name whose documents are of another group", "function.yaml", "apiVersion: v1\nkind: Pod\n", false],
  ["a fixed name with one of our documents among others", "function.yaml", `apiVersion: v1\n---\n${OURS}`, true],
  [
    "a fixed name whose apiVersion of another group is a comment",
    "function.yaml",
    "# apiVersion: v1\nkind: Function",
    true,
  ],
  ["another name with our group", "a/all.yaml", OURS, true],
  ["another name without our group", "values.yaml", "apiVersion: v1\n", false],
  ["another name with an apiVersion that is a comment", "values.yaml", `# ${OURS}\nport: 80\n`, false],
  ["our group only in a comment after another one", "values.yaml", "apiVersion: v1 # not sless.kube5s.ru\n", false],
  ["our group, but not as apiVersion", "values.yaml", "group: sless.kube5s.ru/v1alpha1\n", false],
  ["a longer key that ends with apiVersion", "values.yaml", "myapiVersion: sless.kube5s.ru/v1alpha1\n", false],
  ["double quotes", "all.yaml", 'apiVersion: "sless.kube5s.ru/v1alpha1"', true],
  ["single quotes", "all.yaml", "apiVersion: 'sless.kube5s.ru/v1alpha1'", true],
  ["a quoted key", "all.yaml", '"apiVersion": "sless.kube5s.ru/v1alpha1"', true],
  ["JSON on one line", "all.yaml", '{"kind":"Function","apiVersion":"sless.kube5s.ru/v1alpha1"}', true],
  ["an item of a list", "all.yaml", `- ${OURS}`, true],
  ["indentation", "all.yaml", `items:\n  - kind: Function\n    ${OURS}\n`, true],
  ["a byte order mark", "all.yaml", `\ufeff${OURS}`, true],
  ["CRLF", "all.yaml", `kind: Function\r\n${OURS}\r\n`, true],
  ["space before the colon", "all.yaml", "apiVersion : sless.kube5s.ru/v1alpha1", true],
  ["no YAML name", "function.json", OURS, false],
  ["no YAML name, but a fixed one within", "function.yaml.j2", OURS, false],
])("%s", (_what, path, text, expected) => {
  expect(looksLikeManifest(path, text)).toBe(expected);
});

it("answers at once for large files of one line or of many", () => {
  for (const piece of ["apiVersion", "apiVersion: x ", " {", "#", "\n", "-", "'"]) {
    const text = `${piece.repeat(1_000_000 / piece.length)} sless.kube5s.ru`;
    const before = process.cpuUsage();
    looksLikeManifest("all.yaml", text);
    // Linear takes some milliseconds, quadratic would take minutes.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  }
});

it("answers for any path and text", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (path, text) => typeof looksLikeManifest(`${path}.yaml`, text) === "boolean"),
  );
});
