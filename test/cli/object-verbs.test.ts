import { expect, it } from "vitest";
import { type EventItem, ServerError, type SlessClient } from "../../src/server/client.ts";
import { repositoryItem } from "../support/items.ts";
import { testCli } from "../support/test-cli.ts";

/** A client that keeps what is asked of it. */
function recording(suspend = false, outcome: "deleted" | "terminating" = "deleted") {
  const asked: unknown[] = [];
  const client: Partial<SlessClient> = {
    get: async () => repositoryItem("example", { suspend }) as never,
    patch: async (...args) => void asked.push(["patch", ...args]) as never,
    async delete(...args) {
      asked.push(["delete", ...args]);
      return outcome;
    },
  };
  return { client, asked };
}

it.each([["repository", "example"], ["repo", "example"], ["repos/example"], ["example"]])(
  "suspend %s %s changes only spec.suspend",
  async (...words) => {
    const { client, asked } = recording();
    const argv = ["suspend", ...words.filter((word) => word !== undefined)];
    const { code, stdout } = await testCli(argv, { client });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "repository/example is suspended now\n" });
    expect(asked).toEqual([["patch", "repositories", "example", { suspend: true }, { namespace: "default" }]]);
  },
);

it("resume follows again, in the namespace that is named", async () => {
  const { client, asked } = recording(true);
  const { stdout } = await testCli(["resume", "repository", "example", "-n", "team"], { client });
  expect(stdout).toBe("repository/example is followed now\n");
  expect(asked).toEqual([["patch", "repositories", "example", { suspend: false }, { namespace: "team" }]]);
});

it.each([
  ["suspend", true, "suspended"],
  ["resume", false, "followed"],
] as const)("%s of what is so already writes nothing", async (verb, is, word) => {
  const { client, asked } = recording(is);
  const { code, stdout } = await testCli([verb, "repo", "example"], { client });
  expect({ code, stdout, asked }).toEqual({ code: 0, stdout: `repository/example is ${word} already\n`, asked: [] });
});

it.each([["suspend"], ["suspend", "repository"], ["suspend", "function", "hello"], ["resume", "fn/hello"]])(
  "%s %s %s is refused",
  async (verb, ...words) => {
    const { client, asked } = recording();
    const { code } = await testCli([verb!, ...words.filter((word) => word !== undefined)], { client });
    expect({ code, asked }).toEqual({ code: 2, asked: [] });
  },
);

const deletions: Record<string, [string[], string[]]> = {
  "one by kind and name": [["function", "hello"], ["functions/hello"]],
  "several of a kind": [
    ["fn", "a", "b"],
    ["functions/a", "functions/b"],
  ],
  "several kinds": [
    ["job/report", "trigger/nightly"],
    ["jobs/report", "triggers/nightly"],
  ],
  "a repository": [["repos", "example"], ["repositories/example"]],
};
it.each(Object.entries(deletions))("delete takes %s", async (_, [words, expected]) => {
  const { client, asked } = recording();
  const { code, stdout } = await testCli(["delete", ...words], { client });
  expect(code).toBe(0);
  expect(asked.map((call) => (call as string[]).slice(1, 3).join("/"))).toEqual(expected);
  expect(stdout.match(/ deleted(;.*)?\n/g)).toHaveLength(expected.length);
});

it.each([
  [{}, "its 3 objects stay and belong to nobody (deletionPolicy Orphan)"],
  [{ objects: 1 }, "its object stays and belongs to nobody (deletionPolicy Orphan)"],
  [{ deletion_policy: "Delete" }, "its 3 objects are deleted too (deletionPolicy Delete)"],
  [{ deletion_policy: "Delete", objects: 0 }, "it had no objects"],
])("delete of a repository with %j says: %s", async (fields, aftermath) => {
  const { client } = recording();
  const get = async () => repositoryItem("example", fields) as never;
  const { stdout } = await testCli(["delete", "repository", "example"], { client: { ...client, get } });
  expect(stdout).toBe(`repository/example deleted; ${aftermath}\n`);
});

it.each([[["functions"]], [["function/a", "b"]], [["function/a", "functionn/b"]], [["function/"]]])(
  "delete %j deletes nothing",
  async (words) => {
    const { client, asked } = recording();
    expect((await testCli(["delete", ...words], { client })).code).toBe(2);
    expect(asked).toEqual([]);
  },
);

it("delete of what is still cleaned up after says that it goes", async () => {
  const { client } = recording(false, "terminating");
  const { code, stdout } = await testCli(["delete", "fn", "hello"], { client });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "function/hello is being deleted\n" });
});

it("delete of what a repository owns says where it stands", async () => {
  const error = "Function default/hello is owned by repository example (functions/hello/function.yaml).";
  const refuse = () => Promise.reject(new ServerError(409, { error, code: "owned_by_repository" }));
  const { code, stdout, stderr } = await testCli(["delete", "fn", "hello"], { client: { delete: refuse } });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(error);
});

const happened: EventItem[] = [
  {
    type: "Normal",
    reason: "Serving",
    message: "Serves at http://127.0.0.1",
    object: { kind: "Function", name: "hello" },
    time: "2024-01-01T00:00:00Z",
  },
  {
    type: "Warning",
    reason: "BuildFailed",
    message: "line 1\n\u001b[2Jline 2",
    object: { kind: "FunctionJob", name: "report" },
    time: "2024-01-01T00:00:01Z",
  },
];
const withEvents = { client: { events: async () => happened } };

it("events are a table, oldest first, one line each", async () => {
  const { code, stdout } = await testCli(["events", "-o", "wide"], withEvents);
  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "TIME                  TYPE     REASON       OBJECT          MESSAGE
    2024-01-01T00:00:00Z  Normal   Serving      function/hello  Serves at http://127.0.0.1
    2024-01-01T00:00:01Z  Warning  BuildFailed  job/report      line 1 [2Jline 2
    "
  `);
});

const chosen: [string[], string][] = [
  [["events", "-o", "name"], "function/hello\njob/report\n"],
  [["events", "--warnings", "-o", "name"], "job/report\n"],
  [["events", "functions", "-o", "name"], "function/hello\n"],
  [["events", "job", "report", "-o", "name"], "job/report\n"],
  [["events", "fn/other", "-o", "name"], ""],
];
it.each(chosen)("%j chooses events", async (argv, expected) => {
  expect((await testCli(argv, withEvents)).stdout).toBe(expected);
});

it("events as JSON keep every field", async () => {
  expect(JSON.parse((await testCli(["events", "-o", "json"], withEvents)).stdout)).toEqual({ items: happened });
});

it("no events say so on stderr", async () => {
  const run = await testCli(["events"], { client: { events: async () => [] } });
  expect(run).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("Nothing happened") });
});

it.each([["json"], ["yaml"]])("describe -o %s is the whole object", async (form) => {
  const object = { kind: "Function", metadata: { name: "hello" } };
  const client = { getObject: async () => object as never };
  const { stdout } = await testCli(["describe", "fn/hello", "-o", form], { client });
  expect(stdout).toContain(form === "json" ? '"name": "hello"' : "  name: hello\n");
});
