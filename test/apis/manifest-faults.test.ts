import { expect, it } from "vitest";
import { type Kind, managedFieldFaults, manifestFaults, runtimeFault } from "../../src/apis/index.ts";

const SPECS: Record<Kind, Record<string, unknown>> = {
  Function: { runtime: "python3.11" },
  Service: { runtime: "python3.11" },
  Trigger: { type: "http", functionRef: "hello" },
  FunctionJob: { functionRef: "hello" },
  Repository: { url: "https://example.com/a.git" },
};

function faultsOf(kind: Kind, spec: Record<string, unknown>, metadata: Record<string, unknown> = {}): string[] {
  const manifest = {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind,
    metadata: { name: "hello", ...metadata },
    spec: { ...SPECS[kind], ...spec },
  };
  return manifestFaults(kind, manifest).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

it.each(Object.keys(SPECS) as Kind[])("a plain %s has no faults", (kind) => {
  expect(faultsOf(kind, {})).toEqual([]);
});

it.each<[Kind, Record<string, unknown>, string[]]>([
  ["Function", { timeoutSec: 0 }, ["spec.timeoutSec: 0 is out of range: wants 1 to 900"]],
  ["Service", { timeoutSec: 0 }, []],
  ["Service", { timeoutSec: 901 }, ["spec.timeoutSec: 901 is out of range: wants 0 to 900"]],
  ["Function", { memoryMB: 31 }, ["spec.memoryMB: 31 is out of range: wants 32 to 10240"]],
  ["Function", { memoryMB: 128.5 }, ["spec.memoryMB: wants an integer, not 128.5"]],
  ["Function", { memoryMB: "128" }, ['spec.memoryMB: wants an integer, not "128"; write 128 without quotes']],
  ["Function", { memoryMB: "" }, ['spec.memoryMB: wants an integer, not ""']],
  ["Function", { replicas: 101 }, ["spec.replicas: 101 is out of range: wants 0 to 100"]],
  ["Function", { runtime: undefined }, ["spec: runtime is missing; add it"]],
  ["Function", { memoryMb: 1 }, ["spec.memoryMb: unknown field; did you mean memoryMB?"]],
  [
    "Trigger",
    { colour: "red" },
    [
      "spec.colour: unknown field; known here: type, functionRef, enabled, schedule, timeZone, eventJSON, concurrencyPolicy, preWarmSeconds, queue, prefetch, maxRetries",
    ],
  ],
  ["Function", { env: { A: 1 } }, ["spec.env.A: wants a string, not 1"]],
  ["Function", { env: ["A=1"] }, ['spec.env: wants an object, not ["A=1"]']],
  [
    "Function",
    { env: { PORT: "1", SLESS_X: "1", "a-b": "1", ok_1: "1" } },
    [
      "spec.env.PORT: PORT is set by sless itself (PORT and SLESS_* are reserved); choose another name",
      "spec.env.SLESS_X: SLESS_X is set by sless itself (PORT and SLESS_* are reserved); choose another name",
      'spec.env.a-b: "a-b" is no name of an environment variable: use letters, digits and _, not starting with a digit',
    ],
  ],
  [
    "Function",
    { env: { A: "1" }, secretEnv: { A: { secret: "s", key: "k" } } },
    ["spec.secretEnv.A: A stands in env too; keep one of them"],
  ],
  ["Function", { secretEnv: { A: { secret: "s" } } }, ["spec.secretEnv.A: key is missing; add it"]],
  [
    "Function",
    { secretEnv: { A: { secret: "s", key: "k", namespace: "other" } } },
    ["spec.secretEnv.A.namespace: unknown field; known here: secret, key"],
  ],
  [
    "Function",
    { entrypoint: "handle" },
    ['spec.entrypoint: "handle" is no entry point; write module.function, for example handler.handle'],
  ],
  ["Function", { entrypoint: "src/handler:handle" }, []],
  [
    "Function",
    { sourceDir: "/etc" },
    [`spec.sourceDir: "/etc" leaves the manifest's folder; name a folder below it, or move the manifest up`],
  ],
  [
    "Function",
    { sourceDir: "a/../../b" },
    [`spec.sourceDir: "a/../../b" leaves the manifest's folder; name a folder below it, or move the manifest up`],
  ],
  ["Function", { sourceDir: ".git" }, [`spec.sourceDir: ".git" is Git's own, which is no source; name another folder`]],
  [
    "Function",
    { sourceDir: "../.git/hooks" },
    [`spec.sourceDir: "../.git/hooks" leaves the manifest's folder; name a folder below it, or move the manifest up`],
  ],
  ["Function", { sourceDir: "./src" }, []],
  ["Trigger", { type: "corn" }, ['spec.type: "corn" is none of http, cron, event; did you mean cron?']],
  ["Trigger", { type: "cron" }, ["spec: a trigger of type cron needs schedule; add spec.schedule"]],
  ["Trigger", { type: "cron", schedule: "*/5 * * * *", timeZone: "Europe/Paris" }, []],
  [
    "Trigger",
    { type: "cron", schedule: "0 0 31 11 *" },
    ['spec.schedule: "0 0 31 11 *" never fires, for no such day exists; correct the day or the month'],
  ],
  ["Trigger", { type: "event" }, ["spec: a trigger of type event needs queue; add spec.queue"]],
  [
    "Trigger",
    { schedule: "@daily" },
    ["spec.schedule: schedule belongs to triggers of type cron, this one is http; remove it or change the type"],
  ],
  [
    "Trigger",
    { functionRef: "Hello" },
    ['spec.functionRef: "Hello" is no DNS label: use lower-case letters, digits and "-", starting with a letter'],
  ],
  [
    "FunctionJob",
    { functionRef: undefined },
    ["spec: a job needs either functionRef (run a function) or runtime (code beside the manifest)"],
  ],
  [
    "FunctionJob",
    { runtime: "python3.11" },
    ["spec.runtime: runtime belongs to inline jobs, this one has functionRef; remove one of them"],
  ],
  ["FunctionJob", { eventJSON: '{"a":1}' }, []],
  ["Repository", { interval: "soon" }, ['spec.interval: "soon" is no duration; write for example 30s, 5m or 1h30m']],
  ["Repository", { interval: "1h30m" }, []],
  ["Repository", { interval: "1" }, ['spec.interval: "1" is no duration; write for example 30s, 5m or 1h30m']],
  ["Repository", { interval: "" }, ['spec.interval: "" is no duration; write for example 30s, 5m or 1h30m']],
  ["Repository", { interval: "0s" }, ["spec.interval: leaves no time between two looks; write at least 1s"]],
  ["Repository", { interval: "0h0m" }, ["spec.interval: leaves no time between two looks; write at least 1s"]],
  ["Repository", { ref: { branch: "main", tag: "v1" } }, ["spec.ref: names branch and tag; keep one of them"]],
  [
    "Repository",
    { deletionGuard: { maxPercent: 101 } },
    ["spec.deletionGuard.maxPercent: 101 is out of range: wants 0 to 100"],
  ],
])("a %s with %j", (kind, spec, expected) => {
  expect(faultsOf(kind, spec)).toEqual(expected);
});

it("an event that is no JSON text is told with the parser's words", () => {
  expect(faultsOf("FunctionJob", { eventJSON: "{a:1}" })).toEqual([
    expect.stringMatching(/^spec\.eventJSON: is no JSON text \(.+\); correct it$/),
  ]);
});

it("variables are so large together, in characters and not in bytes", () => {
  const env = (last: string): Record<string, string> => ({
    ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`A${i}`, "😀".repeat(16_384)])),
    ...Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`B${i}`, "b".repeat(32_768)])),
    last,
  });
  // Names: eight and four of 2, and `last`.
  const over = 28;
  const fitting = env("");
  fitting.B0 = "b".repeat(32_768 - over);
  expect(faultsOf("Function", { env: fitting })).toEqual([]);
  expect(faultsOf("Function", { env: { ...fitting, last: "1" } })).toEqual([
    "spec.env: names and values have 262145 characters together, of at most 262144; put what is large into a file of the source",
  ]);
});

it("a text with a NUL can be no environment variable", () => {
  expect(faultsOf("Function", { env: { A: "a\0b" } })).toEqual([
    "spec.env.A: holds a NUL character, which no environment variable can; remove it",
  ]);
});

it("values of maps are checked under any key, one with a line break too", () => {
  expect(faultsOf("Function", { env: { "a\nb": null } }, { labels: { "\r": 5 } })).toEqual([
    "metadata.labels.\r: wants a string, not 5",
    "spec.env.a\nb: wants a string, not null",
  ]);
});

it.each([
  [{ name: undefined }, ["metadata: name is missing; add it"]],
  [{ name: "x".repeat(53) }, ["metadata.name: is longer than 52 characters; shorten it"]],
  [
    { name: "-a" },
    ['metadata.name: "-a" is no DNS label: use lower-case letters, digits and "-", starting with a letter'],
  ],
  [{ namespace: "9a" }, []],
  [{ finalizers: [] }, ["metadata.finalizers: unknown field; known here: name, namespace, labels, annotations"]],
  [{ labels: { a: 1 } }, ["metadata.labels.a: wants a string, not 1"]],
])("metadata with %j", (metadata, expected) => {
  expect(faultsOf("Function", {}, metadata)).toEqual(expected);
});

it("all faults are told at once, each once", () => {
  expect(faultsOf("Function", { memoryMB: 1, timeoutSec: "x", nope: 1 }, { name: "A" })).toHaveLength(4);
});

it.each([null, undefined, 5, "text", [], {}])("%j is faulty, and is told so", (manifest) => {
  expect(manifestFaults("Function", manifest).length).toBeGreaterThan(0);
});

it("long values are cut in messages", () => {
  const [fault] = faultsOf("Function", { runtime: "X".repeat(10_000) });
  expect(fault!.length).toBeLessThan(300);
});

it("a runtime that is not installed is told with those that are", () => {
  const known = ["go1.23", "nodejs20", "python3.11"];
  expect(runtimeFault("python3.11", known)).toBeUndefined();
  expect(runtimeFault(undefined, known)).toBeUndefined();
  expect(runtimeFault("pyhton3.11", known)).toEqual({
    path: ["spec", "runtime"],
    message: '"pyhton3.11" is no runtime here; known: go1.23, nodejs20, python3.11; did you mean python3.11?',
  });
  expect(runtimeFault("ruby", known)?.message).toBe('"ruby" is no runtime here; known: go1.23, nodejs20, python3.11');
});

it("the fields that only sless writes are told one by one", () => {
  expect(managedFieldFaults({ runtime: "x" })).toEqual([]);
  expect(managedFieldFaults({ s3Bucket: "b", s3Key: "" }).map(({ path }) => path)).toEqual([
    ["spec", "s3Bucket"],
    ["spec", "s3Key"],
  ]);
});
