import { expect, it } from "vitest";
import { GROUPS } from "../../src/cli/verb.ts";
import { VERBS } from "../../src/cli/verbs.ts";
import { SlessError } from "../../src/errors/index.ts";
import { ServerError } from "../../src/server/client.ts";
import { testCli } from "../support/test-cli.ts";

const nothing = { list: async () => [] };

it("help lists every verb with its summary", async () => {
  const { code, stdout } = await testCli(["--help"]);
  expect(code).toBe(0);
  for (const { name, summary } of VERBS.filter(({ name }) => !name.includes(" "))) {
    expect(stdout).toContain(`${name} `);
    expect(stdout).toContain(summary.slice(0, 30));
  }
});

it.each(Object.entries(GROUPS))("help lists %s once, and its own help lists its verbs", async (group, summary) => {
  expect((await testCli(["--help"])).stdout).toContain(summary.slice(0, 30));
  const { code, stdout } = await testCli([group, "--help"]);
  expect(code).toBe(0);
  for (const verb of VERBS.filter(({ name }) => name.startsWith(`${group} `))) {
    expect(stdout).toContain(` ${verb.name.split(" ")[1]} `);
    expect(stdout).toContain(verb.summary.slice(0, 30));
  }
});

it.each(VERBS.map((verb) => [verb.name, verb] as const))("the help of %s shows its examples", async (name, verb) => {
  const { code, stdout } = await testCli([...name.split(" "), "--help"]);
  expect(code).toBe(0);
  expect(verb.examples.length).toBeGreaterThan(0);
  for (const { line } of verb.examples) expect(stdout).toContain(line);
});

const mistakes: Record<string, [string[], string]> = {
  "an unknown verb suggests the nearest one": [["reconsile"], "Did you mean reconcile?"],
  "an unknown verb of a group suggests the nearest one": [["secret", "lst"], "Did you mean list?"],
  "an unknown option suggests the nearest one": [["get", "functions", "--outputt"], "Did you mean --output?"],
  "an unknown form lists the known ones": [
    ["get", "functions", "-o", "xml"],
    "Allowed choices are wide, json, yaml, name",
  ],
  "a missing argument is named": [["get"], "missing required argument 'kind'"],
  "an argument too many is refused": [["version", "now"], "too many arguments"],
  "an unknown kind suggests the nearest one": [["get", "functoins"], "did you mean functions?"],
  "a wrong setting names its flag": [["get", "functions", "--endpoint", "nowhere"], "--endpoint is no http(s) address"],
};
it.each(Object.entries(mistakes))("%s and exits with 2", async (_name, [argv, expected]) => {
  const { code, stdout, stderr } = await testCli(argv);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(expected);
});

it.each(VERBS.map(({ name }) => [name]))("a mistake in the options of %s is told with its own help", async (name) => {
  const { code, stderr } = await testCli([...name.split(" "), "--no-such-option"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`See \`sless ${name} --help\`.`);
});

it("--version is what people try before the verb", async () => {
  expect(await testCli(["--version"])).toEqual(await testCli(["version"]));
});

it("every wrong setting of flags and environment is told at once", async () => {
  const { code, stderr } = await testCli(["get", "functions", "-n", "A"], { env: { LOG_LEVEL: "loud", PORT: "x" } });
  expect(code).toBe(2);
  for (const name of ["--namespace", "LOG_LEVEL", "PORT"]) expect(stderr).toContain(name);
});

it("an error says what happened and what to do", async () => {
  const list = () => Promise.reject(new SlessError("server_unreachable", { endpoint: "http://a", cause: "refused" }));
  const { code, stderr } = await testCli(["get", "functions"], { client: { list } });
  expect(code).toBe(2);
  expect(stderr).toMatchInlineSnapshot(`
    "error: No sless server answers at http://a: refused.
      Run \`sless dev\` to start one, or name another with --endpoint.
    "
  `);
});

it("an error of the server shows its details, one a line", async () => {
  const details = [{ path: ["spec", "runtime"], message: "unknown" }, { path: "b", message: "too long" }, "plain"];
  const get = () => Promise.reject(new ServerError(422, { error: "Not valid.", code: "archive_invalid", details }));
  const { code, stderr } = await testCli(["get", "functions", "a"], { client: { get } });
  expect(code).toBe(2);
  expect(stderr).toBe("error: Not valid.\n  spec.runtime: unknown\n  b: too long\n  plain\n");
});

it.each<[string, object[], string]>([
  ["one fault", [{ field: "url", message: "names ssh" }], "error: The request is not valid: url: names ssh\n"],
  [
    "two faults",
    [
      { field: "url", message: "url is no address" },
      { field: "", message: "a body is wanted" },
    ],
    "error: The request is not valid:\n  url is no address\n  a body is wanted\n",
  ],
  ["no fault of a field", [], "error: All of it is in the text.\n"],
])("a request with %s is told each fault once", async (_what, details, told) => {
  const error = "All of it is in the text.";
  const get = () => Promise.reject(new ServerError(400, { error, code: "invalid_request", details }));
  expect((await testCli(["get", "functions", "a"], { client: { get } })).stderr).toBe(told);
});

it.each([
  [{ repository: "site", file: "a/function.yaml", line: 3 }, "repository site: a/function.yaml:3"],
  [{ repository: "site", file: "a/function.yaml" }, "repository site: a/function.yaml"],
  [{ repository: "site" }, "repository site"],
])("who owns an object is told in words: %j", async (owning, line) => {
  const refusal = new ServerError(409, { error: "It is owned.", code: "owned_by_repository", details: [owning] });
  const { stderr } = await testCli(["delete", "function/a"], { client: { delete: () => Promise.reject(refusal) } });
  expect(stderr).toBe(`error: It is owned.\n  ${line}\n`);
});

it("what others wrote into an error moves no terminal", async () => {
  const owning = { repository: "site", file: "\u001b]0;owned\u0007/function.yaml", line: 3 };
  const details = [owning, { path: "a\u009b2J", message: "\u202eb" }];
  const refusal = new ServerError(409, { error: "It is\rowned.", code: "owned_by_repository", details });
  const { stderr } = await testCli(["delete", "function/a"], { client: { delete: () => Promise.reject(refusal) } });
  expect(stderr).toBe(
    "error: It is\\x0downed.\n  repository site: \\x1b]0;owned\\x07/function.yaml:3\n  a\\x9b2J: \\u202eb\n",
  );
});

it("colours are for terminals, and NO_COLOR is honoured", async () => {
  const fails = { client: { list: () => Promise.reject(new SlessError("not_found", { what: "It" })) } };
  const argv = ["get", "functions"];
  expect((await testCli(argv, { ...fails, terminal: 80 })).stderr).toContain("\u001b[");
  expect((await testCli(argv, { ...fails, terminal: 80, env: { NO_COLOR: "1" } })).stderr).not.toContain("\u001b[");
  expect((await testCli(argv, fails)).stderr).not.toContain("\u001b[");
});

it("the client gets endpoint and token of flags and environment", async () => {
  const seen: unknown[] = [];
  const createClient = (options: unknown) => {
    seen.push(options);
    return { ...nothing, close: async () => {} } as never;
  };
  const env = { SLESS_API_TOKEN: "secret", SLESS_ENDPOINT: "https://a.example" };
  await testCli(["get", "functions"], { deps: { createClient }, env });
  await testCli(["get", "functions", "--endpoint", "http://b:1"], { deps: { createClient }, env });
  expect(seen).toEqual([
    { endpoint: "https://a.example", token: "secret" },
    { endpoint: "http://b:1", token: "secret" },
  ]);
});

it("version names sless and its Node", async () => {
  const { code, stdout } = await testCli(["version"]);
  expect(code).toBe(0);
  expect(stdout).toBe(`sless 1.2.3 (node ${process.versions.node})\n`);
});

it("an interrupt ends a verb that waits for the server", async () => {
  const interrupt = new AbortController();
  const list = () => {
    interrupt.abort();
    return new Promise<never>(() => {});
  };
  const { code } = await testCli(["get", "functions"], { client: { list }, signal: interrupt.signal });
  expect(code).toBe(130);
});
