import { expect, it } from "vitest";
import { parse } from "yaml";
import type { SlessClient } from "../../src/server/client.ts";
import { jobItem, repositoryItem, triggerItem, workloadItem } from "../support/items.ts";
import { testCli } from "../support/test-cli.ts";

const byHand = { repository: undefined };
const items = {
  functions: [
    workloadItem("hello"),
    workloadItem("shop", { phase: "Failed", serving_replicas: 0, replicas: 2, url: undefined }),
    workloadItem("mine", byHand),
  ],
  services: [workloadItem("chat", { deleting: true })],
  jobs: [
    jobItem("report", { runtime: undefined, function_ref: "hello" }),
    jobItem("once"),
    jobItem("orphan", { ...byHand, function_ref: "hello" }),
  ],
  triggers: [
    triggerItem("hello-http"),
    triggerItem("hello-nightly", { type: "cron", schedule: "0 3 * * *", enabled: false, active: false }),
    triggerItem("lost", { function_ref: "nowhere", active: false }),
  ],
  repositories: [
    repositoryItem("example"),
    repositoryItem("other", { ready: false, message: "It is\nnot there.", last_applied_revision: undefined }),
    repositoryItem("still", { suspend: true }),
  ],
};
const client = {
  list: async (plural: keyof typeof items) => items[plural],
  get: async (_plural: string, name: string) => repositoryItem(name),
} as unknown as Partial<SlessClient>;

it("repositories show their objects, what is called by what, and what nobody owns", async () => {
  const { code, stdout } = await testCli(["tree"], { client });
  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "repository/example  Ready  main@sha1:bbbbbbb
    ├─ function/hello  Ready  1/1  http://127.0.0.1:9090/fn/default/hello
    │  ├─ job/report  Succeeded  runs hello
    │  ├─ trigger/hello-http  Active  http
    │  └─ trigger/hello-nightly  Disabled  cron 0 3 * * *
    ├─ function/shop  Failed  0/2
    ├─ service/chat  Deleting  1/1  http://127.0.0.1:9090/fn/default/chat
    ├─ job/once  Succeeded
    └─ trigger/lost  Inactive  http
    repository/other  NotReady  nothing applied yet  It is not there.
    repository/still  Suspended  main@sha1:bbbbbbb
    without a repository
    ├─ function/mine  Ready  1/1  http://127.0.0.1:9090/fn/default/mine
    └─ job/orphan  Succeeded  runs hello
    "
  `);
});

it("one repository is shown alone, wide with paths", async () => {
  const { stdout } = await testCli(["tree", "repository", "example", "-o", "wide"], { client });
  expect(stdout.match(/^repository\//gm)).toHaveLength(1);
  expect(stdout).toContain("http://127.0.0.1:9090/fn/default/hello  functions/hello/function.yaml");
  expect(stdout).not.toContain("without a repository");
});

it("as YAML and JSON it is the same tree", async () => {
  const json = JSON.parse((await testCli(["tree", "example", "-o", "json"], { client })).stdout);
  expect(parse((await testCli(["tree", "example", "-o", "yaml"], { client })).stdout)).toEqual(json);
  const [repository] = json.items;
  expect(repository).toMatchObject({ kind: "repository", name: "example", phase: "Ready" });
  const hello = repository.children.find(({ name }: { name: string }) => name === "hello");
  expect(hello.children.map(({ kind, name }: { kind: string; name: string }) => `${kind}/${name}`)).toEqual([
    "job/report",
    "trigger/hello-http",
    "trigger/hello-nightly",
  ]);
});

it("names are in the order of the tree, each once", async () => {
  const names = (await testCli(["tree", "-o", "name"], { client })).stdout.trim().split("\n");
  expect(new Set(names).size).toBe(names.length);
  expect(names.slice(0, 3)).toEqual(["repository/example", "function/hello", "job/report"]);
  expect(names).toHaveLength(Object.values(items).flat().length);
});

it("an empty namespace says so on stderr", async () => {
  const run = await testCli(["tree", "-n", "team"], { client: { list: async () => [] } });
  expect(run).toEqual({ code: 0, stdout: "", stderr: "Nothing is in namespace team.\n" });
});
