import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { VERBS } from "../../src/cli/verbs.ts";
import type { SlessClient } from "../../src/server/client.ts";
import { testCli } from "../support/test-cli.ts";

const TABLE = ["wide", "json", "yaml", "name"];
const RESULT = ["json", "yaml", "name"];
const PLAN = ["text", "json", "markdown", "yaml", "name"];

/** What `-o` takes, by verb: each that prints objects or an outcome has it. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  dev: [],
  init: [],
  plan: PLAN,
  diff: PLAN,
  get: TABLE,
  describe: RESULT,
  tree: TABLE,
  events: TABLE,
  history: TABLE,
  reconcile: TABLE,
  pull: ["text", ...RESULT],
  export: RESULT,
  rollback: RESULT,
  create: TABLE,
  set: TABLE,
  suspend: TABLE,
  resume: TABLE,
  approve: RESULT,
  logs: [],
  invoke: [],
  delete: RESULT,
  "secret set": RESULT,
  "secret list": TABLE,
  "secret delete": RESULT,
  gc: TABLE,
  controller: [],
  api: [],
  gateway: [],
  serve: [],
  completion: [],
  version: ["json", "yaml"],
};

it("every verb says which forms it has", () => {
  const choices = ({ options = [] }: (typeof VERBS)[number]) =>
    options.find(({ flags }) => flags.startsWith("-o,"))?.choices ?? [];
  expect(Object.fromEntries(VERBS.map((verb) => [verb.name, choices(verb)]))).toEqual(FORMS);
});

it.each(Object.entries(FORMS))(
  "%s refuses other forms with those that it has, and completion offers these",
  async (verb, forms) => {
    const words = verb.split(" ");
    const refused = await testCli([...words, "-o", "xml"]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(
      forms.length > 0 ? `Allowed choices are ${forms.join(", ")}.` : "unknown option '-o'",
    );
    const { stdout } = await testCli(["__complete", "--", ...words, "-o", ""]);
    if (forms.length > 0) expect(stdout.trimEnd().split("\n")).toEqual(forms);
    const { stdout: help } = await testCli([...words, "--help"]);
    for (const form of forms) expect(help).toContain(`"${form}"`);
  },
);

const repository = { name: "site", suspend: false, objects: 2, ready: true, url: "https://x" };
const object = { kind: "Repository", metadata: { name: "site" }, spec: {}, status: { lastHandledReconcileAt: "9" } };
const held = [{ kind: "Function", name: "a", uid: "1" }];
const client = {
  get: async () => repository,
  getObject: async () => object,
  patch: async () => repository,
  list: async () => [],
  reconcile: async () => ({ requested_at: "1" }),
  plan: async () => ({ held }),
  approve: async () => ({ approved: held }),
  delete: async (_plural: string, name: string) => (name === "slow" ? "terminating" : "deleted"),
  writeSecret: async () => ({ name: "api", keys: ["token"] }),
  listSecrets: async () => [{ name: "api", keys: ["token"] }],
  deleteSecret: async () => undefined,
} as unknown as Partial<SlessClient>;

/** By command line: what the verb tells as JSON, and its names. */
const OUTCOMES: Readonly<Record<string, readonly [document: unknown, names: string]>> = {
  "describe repo site": [object, "repository/site\n"],
  "suspend site": [object, "repository/site\n"],
  "resume site": [object, "repository/site\n"],
  "reconcile site": [object, "repository/site\n"],
  "approve site --yes": [{ approved: held }, "function/a\n"],
  "delete function/a job/slow": [
    {
      items: [
        { kind: "Function", name: "a", outcome: "deleted" },
        { kind: "FunctionJob", name: "slow", outcome: "terminating" },
      ],
    },
    "function/a\njob/slow\n",
  ],
  "secret set api token=x": [{ name: "api", keys: ["token"] }, "secret/api\n"],
  "secret delete api token": [{ name: "api", deleted: ["token"] }, "secret/api\n"],
  "secret delete api": [{ name: "api", deleted: "all" }, "secret/api\n"],
};
describe.each(Object.entries(OUTCOMES))("%s", (line, [document, names]) => {
  it("writes nothing but its outcome to stdout, in each form", async () => {
    const told = async (form: string) => (await testCli([...line.split(" "), "-o", form], { client })).stdout;
    expect(JSON.parse(await told("json"))).toEqual(document);
    expect(parse(await told("yaml"))).toEqual(document);
    expect(await told("name")).toBe(names);
  });
});

it("approve asks on stderr when stdout has the outcome", async () => {
  const line = ["approve", "site", "-o", "json"];
  const { code, stdout, stderr } = await testCli(line, { client, terminal: 80, stdin: "n\n" });
  expect({ code, document: JSON.parse(stdout) }).toEqual({ code: 1, document: { approved: [] } });
  expect(stderr).toContain("Delete it? [y/N]");
});

it("version tells sless and Node as data", async () => {
  const { stdout } = await testCli(["version", "-o", "json"]);
  expect(JSON.parse(stdout)).toEqual({ version: "1.2.3", node: process.versions.node });
});

it.each(["tree", "suspend", "reconcile"])(
  "%s repo is for the repository that is called repo, where there is one",
  async (verb) => {
    const seen: string[] = [];
    const named = {
      ...client,
      list: async (plural: string) => (plural === "repositories" ? [{ name: "repo" }] : []),
      get: async (_plural: string, name: string) => {
        seen.push(name);
        return { ...repository, name };
      },
      reconcile: async (name: string) => {
        seen.push(name);
        return { requested_at: "1" };
      },
    } as never;
    await testCli([verb, "repo"], { client: named });
    expect(seen).toContain("repo");
    const { code, stderr } = await testCli([verb, "repo"], { client });
    expect(code).toBe(2);
    expect(stderr).toContain(`${verb} is for one repository, by name`);
  },
);
