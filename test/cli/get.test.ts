import { expect, it } from "vitest";
import { parse } from "yaml";
import { KINDS } from "../../src/apis/index.ts";
import { kindNamed } from "../../src/cli/kind-names.ts";
import type { SlessClient } from "../../src/server/client.ts";
import { jobItem, repositoryItem, triggerItem, workloadItem } from "../support/items.ts";
import { testCli } from "../support/test-cli.ts";

const items = {
  functions: [
    workloadItem("hello", { created_at: new Date().toISOString() }),
    workloadItem("shop", {
      phase: "Failed",
      serving_replicas: 0,
      replicas: 2,
      url: undefined,
      message: `It does not start.\n${"Traceback\n".repeat(400)}`,
    }),
  ],
  services: [],
  jobs: [jobItem("report"), jobItem("again", { runtime: undefined, function_ref: "hello", deleting: true })],
  triggers: [triggerItem("hello-http", { active: false })],
  repositories: [repositoryItem("example")],
};
const client = {
  list: async (plural: keyof typeof items) => items[plural],
  get: async (plural: keyof typeof items, name: string) => items[plural].find((item) => item.name === name),
  listObjects: async (plural: string) => [{ kind: plural, metadata: { name: "a" } }],
  getObject: async (plural: string, name: string) => ({ kind: plural, metadata: { name } }),
} as unknown as Partial<SlessClient>;

/** The age of the items depends on the day. */
const withoutAges = (text: string) => text.replaceAll(/ +\d+[smhd](?=\s)/g, " AGE");

it("functions are a table with phase, replicas and URL", async () => {
  const { code, stdout } = await testCli(["get", "functions"], { client });
  expect(code).toBe(0);
  expect(withoutAges(stdout)).toMatchInlineSnapshot(`
    "NAME   RUNTIME     PHASE   REPLICAS  URL                                     AGE
    hello  python3.11  Ready   1/1       http://127.0.0.1:9090/fn/default/hello AGE
    shop   python3.11  Failed  0/2       - AGE
    "
  `);
});

it("wide adds digest, revision, path and the first line of the message", async () => {
  const { stdout } = await testCli(["get", "functions", "-o", "wide"], { client });
  expect(withoutAges(stdout)).toMatchInlineSnapshot(`
    "NAME   RUNTIME     PHASE   REPLICAS  URL                                     AGE    DIGEST        REVISION           PATH                           MESSAGE
    hello  python3.11  Ready   1/1       http://127.0.0.1:9090/fn/default/hello AGE     0123456789ab  main@sha1:aaaaaaa  functions/hello/function.yaml  -
    shop   python3.11  Failed  0/2       - AGE  0123456789ab  main@sha1:aaaaaaa  functions/hello/function.yaml  It does not start.
    "
  `);
});

it("jobs tell their run, and what is being deleted says so", async () => {
  expect(withoutAges((await testCli(["get", "jobs"], { client })).stdout)).toMatchInlineSnapshot(`
    "NAME    RUNTIME     PHASE      RUN  COMPLETED  AGE
    report  python3.11  Succeeded  1 AGE AGE
    again   of hello    Deleting   1 AGE AGE
    "
  `);
});

it("triggers tell whether they are active", async () => {
  expect(withoutAges((await testCli(["get", "triggers"], { client })).stdout)).toMatchInlineSnapshot(`
    "NAME        TYPE  FUNCTION  ENABLED  ACTIVE  URL  AGE
    hello-http  http  hello     yes      no      - AGE
    "
  `);
});

it("repositories tell the applied revision", async () => {
  expect(withoutAges((await testCli(["get", "repositories"], { client })).stdout)).toMatchInlineSnapshot(`
    "NAME     READY  APPLIED            OBJECTS  FAULTS  URL               AGE
    example  yes    main@sha1:bbbbbbb  3        0       /srv/example.git AGE
    "
  `);
});

it("one object is a table of one row", async () => {
  const { stdout } = await testCli(["get", "function", "hello"], { client });
  expect(stdout.trim().split("\n")).toHaveLength(2);
});

const words = ["functions", "function", "fn", "Function", "FN"];
it.each(words)("%s names functions", async (word) => {
  expect((await testCli(["get", word, "-o", "name"], { client })).stdout).toBe("function/hello\nfunction/shop\n");
});

it("a kind has on the command line each name that it has in a cluster", () => {
  for (const [kind, { plural, singular, shortNames }] of Object.entries(KINDS))
    for (const word of [kind, plural, singular, ...shortNames]) expect(kindNamed(word, "get").kind, word).toBe(kind);
});

const short = [
  ["repo", "repository/example\n"],
  ["trg", "trigger/hello-http\n"],
  ["fnjob", "job/report\njob/again\n"],
  ["functionjobs", "job/report\njob/again\n"],
  ["job", "job/report\njob/again\n"],
];
it.each(short)("%s is a short or full name", async (word, expected) => {
  expect((await testCli(["get", word!, "-o", "name"], { client })).stdout).toBe(expected);
});

it("json and yaml are whole objects, lists under items", async () => {
  const list = await testCli(["get", "functions", "-o", "json"], { client });
  expect(JSON.parse(list.stdout)).toEqual({ items: [{ kind: "functions", metadata: { name: "a" } }] });
  const one = await testCli(["get", "fn/hello", "-o", "yaml"], { client });
  expect(parse(one.stdout)).toEqual({ kind: "functions", metadata: { name: "hello" } });
});

it("an empty list says so on stderr and leaves stdout empty", async () => {
  const run = await testCli(["get", "services", "-n", "team"], { client });
  expect(run).toEqual({ code: 0, stdout: "", stderr: "No services in namespace team.\n" });
});

it("the namespace goes to the server", async () => {
  const seen: unknown[] = [];
  const list = async (_plural: unknown, options: unknown) => {
    seen.push(options);
    return [];
  };
  await testCli(["get", "functions", "-n", "team"], { client: { list } });
  await testCli(["get", "functions"], { client: { list }, env: { SLESS_NAMESPACE: "shop" } });
  expect(seen).toEqual([{ namespace: "team" }, { namespace: "shop" }]);
});

it("control characters of a message do not reach the terminal", async () => {
  const list = async () => [workloadItem("a", { message: "\u001b[2Jgone\r\nx" })] as never;
  const { stdout } = await testCli(["get", "functions", "-o", "wide"], { client: { list } });
  for (const moving of ["\u001b", "\r"]) expect(stdout).not.toContain(moving);
});

it("a list whose results are cut says how to get a whole one, beside the output", async () => {
  const job = (name: string, status: object) => ({ kind: "FunctionJob", metadata: { name }, spec: {}, status });
  const cut = job("big", { message: "x… (truncated, 9000 bytes in all)", messageTruncated: true });
  const listObjects = async () => [job("a", { message: "1" }), cut] as never;
  const { code, stdout, stderr } = await testCli(["get", "jobs", "-o", "json"], { client: { listObjects } });
  expect(code).toBe(0);
  expect(JSON.parse(stdout).items).toHaveLength(2);
  expect(stderr).toBe("status.message is cut in 1 of these; `sless get job big -o json` prints it whole.\n");
});
