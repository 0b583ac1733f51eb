import fc from "fast-check";
import { expect, it } from "vitest";
import { KIND_NAMES } from "../../src/apis/index.ts";
import { packArchive } from "../../src/source/index.ts";
import { type ForgedEntry, forgedZip } from "../support/forged-zip.ts";
import { functionIntent, type ServerFixture, serverFixture } from "./server-fixture.ts";

const V1 = "/v1/namespaces/default";

async function fixtureWithObjects() {
  const fixture = await serverFixture();
  const metadata = { name: "hello", namespace: "default" };
  await fixture.store.create(functionIntent("hello", { env: { A: "1" } }), { owner: "api" });
  await fixture.store.create(
    { kind: "Trigger", metadata, spec: { type: "http", functionRef: "hello" } },
    { owner: "api" },
  );
  await fixture.store.create({ kind: "FunctionJob", metadata, spec: { runtime: "nodejs20" } }, { owner: "api" });
  await fixture.store.create(
    { kind: "Service", metadata: { ...metadata, name: "other" }, spec: { runtime: "nodejs20" } },
    { owner: "api" },
  );
  return fixture;
}

/** All that a request may change. */
async function stateOf({ store, objects }: ServerFixture): Promise<unknown> {
  const lists = await Promise.all(KIND_NAMES.map((kind) => store.list(kind)));
  const keys: string[] = [];
  for await (const key of objects.list("")) keys.push(key);
  return [lists.map(({ items }) => items), keys];
}

/** Sends it, and holds the rules that hold for every request. */
async function sendAndCheck(fixture: ServerFixture, path: string, init: RequestInit): Promise<number> {
  const before = await stateOf(fixture);
  const response = await fetch(`${fixture.url}${path}`, { ...init, signal: AbortSignal.timeout(300_000) });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(500);
  if (response.status >= 400) {
    expect(JSON.parse(text)).toMatchObject({ error: expect.any(String), code: expect.any(String) });
    expect(await stateOf(fixture)).toEqual(before);
  }
  return response.status;
}

const plural = fc.constantFrom("functions", "services", "triggers", "jobs", "repositories");
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("hello", "other", "new", "a".repeat(52)) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed()),
  },
);
/** Values that fit a field, so that requests come far enough. */
const FITTING: Readonly<Record<string, readonly unknown[]>> = {
  name: ["hello", "new", null],
  runtime: ["nodejs20", "python3.11"],
  entrypoint: ["handler.handle", "src/a.b"],
  memory_mb: [64, 128, null],
  timeout_sec: [0, 1, 900],
  env_vars: [{}, { A: "1" }, { A: null, B: "2" }],
  secret_env_vars: [{}, { S: { secret: "s", key: "k" } }],
  replicas: [0, 1, null],
  type: ["http", "cron", "event"],
  function_ref: ["hello", null],
  schedule: ["@hourly", null],
  queue: ["q", null],
  event_json: ["{}", null],
  run_id: [0, 1],
  enabled: [true, false],
  url: ["https://git.example.com/r.git", "/etc", "https://u:p@host/r"],
  ref: [{ branch: "main" }, { tag: "v1", branch: null }, null],
  deletion_guard: [{ max_percent: 10 }, { maxPercent: 10 }, []],
};
const STRANGE = ["namespace", "s3_key", "s3_bucket", "phase", "memoryMB", "__proto__", "constructor", ""];
const strange = fc.oneof(
  fc.constantFrom<unknown>("", "\0", null, true, 0, -1, 1e300, 0.5, [], {}, { PORT: "1" }, { A: 1 }, "hello"),
  fc.jsonValue({ maxDepth: 3 }),
);
const fitting = fc
  .subarray(Object.keys(FITTING))
  .chain((fields) => fc.record(Object.fromEntries(fields.map((one) => [one, fc.constantFrom(...FITTING[one]!)]))));
const body = fc.oneof(
  { weight: 2, arbitrary: fc.record({ env_vars: fc.constantFrom(...FITTING.env_vars!) }, { requiredKeys: [] }) },
  { weight: 2, arbitrary: fc.constantFrom({ name: "new", runtime: "nodejs20" }, { runtime: "nodejs20", replicas: 2 }) },
  { weight: 3, arbitrary: fitting },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fitting, fc.dictionary(fc.constantFrom(...STRANGE, ...Object.keys(FITTING)), strange, { maxKeys: 3 }))
      .map(([fits, not]) => ({ ...fits, ...not })),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

it("no JSON makes the server fail, and what is refused changes nothing", async () => {
  const fixture = await fixtureWithObjects();
  const statuses = new Set<number>();
  const request = fc.record({ plural, name, body, method: fc.constantFrom("POST", "PUT", "PATCH") });
  await fc.assert(
    fc.asyncProperty(request, async ({ plural: kind, name: of, body: sent, method }) => {
      const path = method === "POST" ? `${V1}/${kind}` : `${V1}/${kind}/${encodeURIComponent(of)}`;
      const init = { method, body: JSON.stringify(sent), headers: { "content-type": "application/json" } };
      statuses.add(await sendAndCheck(fixture, path, init));
    }),
    { numRuns: 400 },
  );
  // The requests come far enough to mean something.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 404, 409]));
});

it("no text in place of JSON makes the server fail", async () => {
  const fixture = await fixtureWithObjects();
  const depths = [
    "[".repeat(50_000),
    '{"env_vars":'.repeat(50_000),
    `{"env_vars":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
  ];
  const text = fc.oneof(
    fc.constantFrom(...depths),
    fc.string({ unit: "binary" }),
    fc.json().map((json) => json.slice(1)),
  );
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom("PUT", "PATCH"), async (sent, method) => {
      const init = { method, body: sent, headers: { "content-type": "application/json" } };
      await sendAndCheck(fixture, `${V1}/functions/hello`, init);
    }),
    { numRuns: 100, examples: depths.map((deep) => [deep, "PATCH"]) },
  );
});

const entry: fc.Arbitrary<ForgedEntry> = fc.record(
  {
    name: fc.oneof(
      fc.constantFrom(
        "handler.py",
        "Handler.py",
        "a/handler.py",
        "../x",
        "/x",
        "a/",
        ".git/x",
        ".slessignore",
        "function.yaml",
        "__MACOSX/x",
        "a/../b",
        "C:x",
        "a//b",
        ".",
      ),
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.uint8Array({ maxLength: 12 }),
    ),
    content: fc.oneof(
      fc.constantFrom("*", "!handler.py", "../..", "apiVersion: sless.kube5s.ru/v1alpha1", "{"),
      fc.string({ maxLength: 40 }),
    ),
    mode: fc.constantFrom(0o100644, 0o100755, 0o120777, 0o040755, 0o020666, 0),
    declaredSize: fc.constantFrom(0, 5, 1 << 30),
    flags: fc.constantFrom(0, 1, 0x800, 0x808),
    method: fc.constantFrom(0 as const, 8 as const, 12 as const),
  },
  { requiredKeys: ["name"] },
);

/** Sound archives with some bytes changed, cut off or doubled. */
const mutated = fc.record({
  cut: fc.option(fc.nat(400)),
  changes: fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 6 }),
  isDoubled: fc.boolean(),
});

it("no archive makes the server fail, and what is refused changes nothing", async () => {
  const fixture = await fixtureWithObjects();
  const sound = await packArchive([
    { path: "handler.py", mode: "100644", content: Buffer.from("def handle(e, c):\n    return 1\n".repeat(5)) },
    { path: "lib/a.txt", mode: "100755", content: Buffer.from("text") },
  ]);
  const mutate = ({ cut, changes, isDoubled }: typeof mutated extends fc.Arbitrary<infer T> ? T : never) => {
    const bytes = Buffer.from(isDoubled ? Buffer.concat([sound, sound]) : sound);
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    return new Uint8Array(cut === null ? bytes : bytes.subarray(0, cut));
  };
  const archive = fc.oneof(
    fc.array(entry, { maxLength: 6 }).map((entries) => new Uint8Array(forgedZip(entries))),
    mutated.map(mutate),
    fc.uint8Array({ maxLength: 200 }),
  );
  const statuses = new Set<number>();
  const type = fc.constantFrom("application/zip", "multipart/form-data; boundary=x", "text/plain", "application/json");
  const of = fc.constantFrom("functions/hello", "services/other", "jobs/hello");
  await fc.assert(
    fc.asyncProperty(archive, type, of, async (bytes, contentType, path) => {
      const init = { method: "POST", body: new Uint8Array(bytes), headers: { "content-type": contentType } };
      statuses.add(await sendAndCheck(fixture, `${V1}/${path}/upload`, init));
    }),
    // By luck alone there may be no sound one among them.
    { numRuns: 400, examples: [[new Uint8Array(sound), "application/zip", "functions/hello"]] },
  );
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400]));
});

/** Writes that are no fields of an object: what they take is fitting now and then, so that requests come far enough. */
const OTHER_WRITES: Readonly<Record<string, readonly [method: string, path: string, fits: readonly unknown[]]>> = {
  "a namespace is ensured": ["POST", "/ensure", [undefined, {}]],
  "a secret is written": ["PUT", "/secrets/api", [{ values: { token: "x" } }, { token: "x" }]],
  "a secret is merged": ["PATCH", "/secrets/api", [{ values: { token: null } }, { token: null }]],
  "a sync is asked for": ["POST", "/repositories/site/reconcile", [undefined, {}]],
  "deletions are approved": ["POST", "/repositories/site/approve", [undefined, { deletions: [] }]],
  "a function is called": ["POST", "/functions/hello/invoke", [undefined, {}, "text"]],
  "an object is deleted": ["DELETE", "/triggers/hello", [undefined]],
};
it.each(Object.entries(OTHER_WRITES))("no body makes the server fail when %s", async (_, [method, path, fits]) => {
  const fixture = await fixtureWithObjects();
  const metadata = { name: "site", namespace: "default" };
  await fixture.store.create({ kind: "Repository", metadata, spec: { url: "https://a.example" } }, { owner: "api" });
  const sent = fc.oneof(
    fc.constantFrom(...fits).map((value) => (value === undefined ? undefined : JSON.stringify(value))),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc
      .dictionary(fc.constantFrom("values", "deletions", "kind", "__proto__", ""), strange)
      .map((value) => JSON.stringify(value)),
    fc.string({ unit: "binary", maxLength: 30 }),
  );
  const type = fc.constantFrom("application/json", "application/merge-patch+json", "text/plain", "nothing");
  const suffix = fc.constantFrom("", "", "", "?dry_run=1&x", "/", "%00", "/../x", `/${"a".repeat(400)}`);
  await fc.assert(
    fc.asyncProperty(sent, type, suffix, async (text, contentType, more) => {
      const init = { method, ...(text !== undefined && { body: text }), headers: { "content-type": contentType } };
      // A call of what is not reachable is a 503 of the gateway's own.
      if (path.endsWith("/invoke")) await answersBelow500Or503(fixture, `${V1}${path}${more}`, init);
      else await sendAndCheck(fixture, `${V1}${path}${more}`, init);
    }),
    { numRuns: 60 },
  );
});

async function answersBelow500Or503({ url }: ServerFixture, path: string, init: RequestInit): Promise<void> {
  const { status } = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(300_000) });
  expect(status === 503 || status < 500, String(status)).toBe(true);
}
