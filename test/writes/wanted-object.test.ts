import { expect, it } from "vitest";
import { API_VERSION, type Kind, type ObjectOf, withDefaults } from "../../src/apis/index.ts";
import { createdIntent, merge, RefusedRequest, replacement } from "../../src/writes/index.ts";

const KNOWN = {
  runtimes: ["go1.23", "nodejs20", "python3.11"],
  urlFault: (url: string) => (url.startsWith("https://") ? undefined : "only https:// is followed"),
};

function live<K extends Kind>(kind: K, spec: object): ObjectOf<K> {
  const metadata = {
    name: "hello",
    namespace: "demo",
    uid: "u",
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: "",
  };
  return { apiVersion: API_VERSION, kind, metadata, spec: withDefaults(kind, spec as never) };
}

/** `field message` of every fault. */
function faultsOf(write: () => unknown): string[] {
  try {
    write();
    return [];
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    return error.reasons.map((reason) => ("field" in reason ? `${reason.field}: ${reason.message}` : "owned"));
  }
}

const created = (kind: Kind, body: unknown) => createdIntent(kind, "demo", body, KNOWN);
const S3_KEY = `functions/demo/hello/${"a".repeat(64)}.zip`;

const refused: Record<string, [kind: Kind, body: unknown, faults: (string | RegExp)[]]> = {
  "a body that is none": ["Function", undefined, ["the body wants a JSON object"]],
  "a list": ["Function", [], ["the body wants a JSON object"]],
  null: ["Function", null, ["the body wants a JSON object"]],
  "a number": ["Function", 1, ["the body wants a JSON object"]],
  "nothing at all": ["Function", {}, ["name: is missing", "runtime: is missing"]],
  "no name, and fields that do not fit together": [
    "FunctionJob",
    { function_ref: "hello", runtime: "python3.11" },
    ["name: is missing", "runtime: runtime belongs to inline jobs"],
  ],
  "a name that is none, and nothing to run": [
    "FunctionJob",
    { name: "A" },
    [/^name: .* is no DNS label/, ": a job needs either function_ref"],
  ],
  "null for what is required": ["Function", { name: null, runtime: null }, ["name: is missing", "runtime: is missing"]],
  "many faults at once": [
    "Function",
    {
      name: "Hello_World",
      runtime: "python3.12",
      memory_mb: 1,
      timeout_sec: "30",
      replicas: 1.5,
      entrypoint: "handler",
      env_vars: { PORT: "80", A: 1, "b c": "" },
      secret_env_vars: { T: { secret: "s", kee: "k" } },
      memroy_mb: 2,
    },
    [
      "memroy_mb: is no known field; did you mean memory_mb?",
      /^name: .* is no DNS label/,
      "memory_mb: 1 is out of range: wants 32 to 10240",
      'timeout_sec: wants an integer, not "30"; write 30 without quotes',
      "replicas: wants an integer",
      /^entrypoint: .*handler\.handle/,
      "env_vars/A: wants a string",
      "env_vars/PORT: PORT is set by sless itself",
      'env_vars/b c: "b c" is no name of an environment variable',
      "secret_env_vars/T: key is missing; add it",
      "secret_env_vars/T/kee: unknown field",
      'runtime: "python3.12" is no runtime here; known: go1.23, nodejs20, python3.11',
    ],
  ],
  "the names of a manifest": [
    "Function",
    { name: "a", runtime: "nodejs20", memoryMB: 64, envVars: {} },
    ["memoryMB: is no known field; did you mean memory_mb?", "envVars: is no known field; did you mean env_vars?"],
  ],
  "a name that is no text": ["Function", { name: 5, runtime: "nodejs20" }, ["name: wants a string, not 5"]],
  "a name that is too long": [
    "Service",
    { name: "a".repeat(53), runtime: "nodejs20" },
    ["name: is longer than 52 characters"],
  ],
  "another namespace": [
    "Function",
    { name: "a", namespace: "b", runtime: "nodejs20" },
    ["namespace: is demo in the path"],
  ],
  "a key of the object store": [
    "Function",
    { name: "a", runtime: "nodejs20", s3_key: S3_KEY },
    ["s3_key: is set by sless"],
  ],
  "a time limit of none for a function": [
    "Function",
    { name: "a", runtime: "nodejs20", timeout_sec: 0 },
    ["timeout_sec: 0 is out of range: wants 1 to 900"],
  ],
  "a time limit beyond all": ["Service", { name: "a", runtime: "nodejs20", timeout_sec: 901 }, ["timeout_sec: 901 is"]],
  "a type of trigger that is none": [
    "Trigger",
    { name: "a", type: "htp", function_ref: "b" },
    [/^type: .*did you mean http\?/],
  ],
  "a cron trigger without a schedule": [
    "Trigger",
    { name: "a", type: "cron", function_ref: "b" },
    ["schedule: a trigger of type cron needs schedule"],
  ],
  "a schedule and a time zone that are none, beside another fault": [
    "Trigger",
    { name: "a", type: "cron", function_ref: "B", schedule: "* * * * * *", time_zone: "Mars/Phobos" },
    [
      'function_ref: "B" is no DNS label',
      'schedule: "* * * * * *" has six fields, and there are no seconds here; write minute hour',
      'time_zone: "Mars/Phobos" is no time zone; write an IANA name such as Europe/Paris',
    ],
  ],
  "fields of another type of trigger": [
    "Trigger",
    { name: "a", type: "http", function_ref: "b", schedule: "@hourly", max_retries: 1 },
    [
      "schedule: schedule belongs to triggers of type cron",
      "max_retries: max_retries belongs to triggers of type event",
    ],
  ],
  "an event that is no JSON": [
    "FunctionJob",
    { name: "a", runtime: "nodejs20", event_json: "{", run_id: -1 },
    ["run_id: -1 is out of range", "event_json: is no JSON text"],
  ],
  "a job of a function with code of its own": [
    "FunctionJob",
    { name: "a", runtime: "nodejs20", function_ref: "b" },
    ["runtime: runtime belongs to inline jobs, this one has function_ref"],
  ],
  "a job of nothing": ["FunctionJob", { name: "a" }, [": a job needs either function_ref"]],
  "a repository of a path of this machine": [
    "Repository",
    { name: "a", url: "/etc", interval: "often", suspend: "no" },
    ["interval: ", "suspend: wants a boolean", "url: cannot be followed: only https:// is followed"],
  ],
  "faults within a field": [
    "Repository",
    { name: "a", url: "https://git", deletion_guard: { max_percent: 101, maxDeletions: 1 }, ref: { brnch: "x" } },
    [
      "deletion_guard/max_percent: 101 is out of range",
      "deletion_guard/maxDeletions: is no known field; did you mean max_deletions?",
      "ref/brnch: unknown field; did you mean branch?",
    ],
  ],
  "a repository's folder, secret and time that none can have": [
    "Repository",
    { name: "a", url: "https://git", timeout: "0s", path: "../other", secret_ref: { name: "../git" } },
    ["secret_ref/name: ", "path: leaves the repository", "timeout: leaves no time"],
  ],
  "a folder outside of the repository, and no time": [
    "Repository",
    { name: "a", url: "https://git", timeout: "0h0s", path: "a/../../b", ref: { branch: "--upload-pack=x y" } },
    ["path: leaves the repository", "timeout: leaves no time", "ref/branch: is no name that Git gives a branch"],
  ],
  "an absolute folder and a tag of two lines": [
    "Repository",
    { name: "a", url: "https://git", path: "/etc", ref: { tag: "v1\nv2" } },
    ["path: leaves the repository", "ref/tag: is no name that Git gives a tag"],
  ],
  "Git's own folder and names that lead up": [
    "Repository",
    { name: "a", url: "https://git", path: "a/.git", ref: { branch: "../../config" } },
    ["path: leaves the repository", "ref/branch: is no name that Git gives a branch"],
  ],
  "halves of characters in a map": [
    "Function",
    { name: "a", runtime: "nodejs20", env_vars: { A: "\ud800", B: "\u{1F600}", C: "\0" } },
    ["env_vars/A: holds \\0 or half a surrogate pair", "env_vars/C: holds a NUL"],
  ],
  "halves of characters in a text": [
    "Trigger",
    { name: "a", type: "event", function_ref: "b", queue: "a\0b\udc00" },
    ["queue: holds \\0 or half a surrogate pair"],
  ],
  "a ref of two kinds": [
    "Repository",
    { name: "a", url: "https://git", ref: { branch: "x", tag: "y" } },
    ["ref: names branch and tag; keep one of them"],
  ],
  "a value that nests without end": [
    "Function",
    { name: "a", runtime: "nodejs20", env_vars: Array.from({ length: 100_000 }).reduce((inner) => [inner], "") },
    [/nests deeper/],
  ],
};

it.each(Object.entries(refused))("%s is refused with every fault", (_name, [kind, body, expected]) => {
  const faults = faultsOf(() => created(kind, body));
  expect(faults).toHaveLength(expected.length);
  for (const want of expected) {
    expect(faults).toContainEqual(want instanceof RegExp ? expect.stringMatching(want) : expect.stringContaining(want));
  }
});

it("a created object has the fields that were sent, null being none", () => {
  const body = { name: "hello", runtime: "nodejs20", timeout_sec: 5, env_vars: { A: "1" }, replicas: null, phase: "x" };
  expect(created("Function", body)).toEqual({
    kind: "Function",
    metadata: { namespace: "demo", name: "hello", finalizers: ["sless.kube5s.ru/cleanup"] },
    spec: { runtime: "nodejs20", timeoutSec: 5, env: { A: "1" } },
  });
});

it("names of JavaScript's own are unknown fields like any others", () => {
  const body = { name: "a", runtime: "nodejs20", toString: 1, constructor: 2, hasOwnProperty: 3 };
  expect(faultsOf(() => created("Function", body))).toHaveLength(3);
});

const present = live("Function", {
  runtime: "nodejs20",
  memoryMB: 256,
  env: { A: "1", B: "2" },
  replicas: 0,
  sourceDir: "src",
  s3Key: S3_KEY,
});

it("a replacement returns what it omits to the default, and keeps the source", () => {
  const { spec } = replacement(present, { runtime: "python3.11", env_vars: { B: "3" } }, KNOWN);
  expect(spec).toEqual({ runtime: "python3.11", memoryMB: 128, replicas: 1, env: { A: null, B: "3" } });
});

it("a replacement without what is required is refused, and changes no zero into the spec", () => {
  expect(faultsOf(() => replacement(present, { memory_mb: 64 }, KNOWN))).toEqual(["runtime: is missing; add it"]);
});

it("what was read may be sent back and changes nothing", () => {
  const told = {
    name: "hello",
    namespace: "demo",
    created_at: "x",
    deleting: false,
    conditions: [],
    phase: "Ready",
    ready: true,
    serving_replicas: 1,
    s3_key: S3_KEY,
    secret_env_vars: {},
  };
  const fields = {
    runtime: "nodejs20",
    entrypoint: "handler.handle",
    memory_mb: 256,
    timeout_sec: 30,
    env_vars: { A: "1", B: "2" },
    replicas: 0,
  };
  expect(replacement(present, { ...told, ...fields }, KNOWN).spec).toBeUndefined();
});

const merges: Record<string, [body: object, spec: object | undefined]> = {
  nothing: [{}, undefined],
  "a value that is there": [{ memory_mb: 256 }, undefined],
  "one field": [{ memory_mb: 64 }, { memoryMB: 64 }],
  "one variable": [{ env_vars: { A: "9" } }, { env: { A: "9" } }],
  "null for a variable": [{ env_vars: { A: null } }, { env: { A: null } }],
  "null for a field": [{ memory_mb: null }, { memoryMB: 128 }],
  "no variables": [{ secret_env_vars: {} }, undefined],
  "the present key": [{ s3_key: S3_KEY, name: "hello" }, undefined],
};
it.each(Object.entries(merges))("a merge of %s changes only what it names", (_name, [body, spec]) => {
  expect(merge(present, body, KNOWN).spec).toEqual(spec);
});

const refusedMerges: Record<string, [body: unknown, fault: RegExp]> = {
  "null for what is required": [{ runtime: null }, /^runtime: is missing/],
  "what sless tells": [{ phase: "Ready" }, /^phase: is told by sless/],
  "another name": [{ name: "other" }, /^name: is hello in the path/],
  "another key": [{ s3_key: "functions/other/x/y.zip" }, /^s3_key: is set by sless/],
  "null for the key": [{ s3_key: null }, /^s3_key: is set by sless/],
  "a bucket": [{ s3_bucket: "mine" }, /^s3_bucket: is set by sless/],
  "a variable in both maps": [
    { secret_env_vars: { A: { secret: "s", key: "k" } } },
    /^secret_env_vars\/A: A stands in/,
  ],
  "a list of operations": [[{ op: "remove", path: "/runtime" }], /JSON object/],
};
it.each(Object.entries(refusedMerges))("a merge of %s is refused", (_name, [body, fault]) => {
  expect(faultsOf(() => merge(present, body, KNOWN))).toEqual([expect.stringMatching(fault)]);
});

it("a runtime that went locks no object that names it", () => {
  const old = live("Function", { runtime: "python2.7" });
  expect(merge(old, { replicas: 0 }, KNOWN).spec).toEqual({ replicas: 0 });
  expect(faultsOf(() => merge(old, { runtime: "python2.6" }, KNOWN))).toHaveLength(1);
});

it("a job that becomes one of a function loses its source", () => {
  const job = live("FunctionJob", { runtime: "nodejs20", s3Key: "jobs/demo/hello/x.zip", runID: 2 });
  const { spec } = replacement(job, { function_ref: "other", run_id: 3 }, KNOWN);
  expect(spec).toEqual({ runtime: null, s3Key: null, functionRef: "other", runID: 3 });
});

it("a repository is written in the fields of the API, its rest stays", () => {
  const intent = created("Repository", { name: "a", url: "https://git", deletion_guard: { max_deletions: 3 } });
  expect(intent.spec).toEqual({ url: "https://git", deletionGuard: { maxDeletions: 3 } });
  const repository = live("Repository", { url: "/srv/local.git", writeBack: { mode: "reject" }, path: "x" });
  expect(merge(repository, { suspend: true, deletion_guard: { max_percent: 5 } }, KNOWN).spec).toEqual({
    suspend: true,
    deletionGuard: { maxDeletions: 10, maxPercent: 5 },
  });
  expect(replacement(repository, { url: "/srv/local.git" }, KNOWN).spec).toEqual({ path: null });
  expect(faultsOf(() => replacement(repository, { url: "/srv/other.git" }, KNOWN))).toHaveLength(1);
});

it("a fault that begins with the name of its field is told once", () => {
  const body = { name: "x", runtime: "python3.11", env_vars: { PORT: "1", "b c": "" } };
  expect(() => created("Function", body)).toThrow(
    /: env_vars\/PORT is set by sless itself .*; env_vars\/b c is no name of an environment variable/,
  );
});
