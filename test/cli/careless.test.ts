import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { VERBS } from "../../src/cli/verbs.ts";
import { openIsomorphicReader } from "../../src/source/isomorphic/index.ts";
import { gitRepository } from "../support/git-repository.ts";
import { repositoryItem } from "../support/items.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

/** Every option that takes a value, with the arguments that its verb must have. */
const valued = VERBS.flatMap((verb) => {
  const needed = (verb.arguments ?? []).filter(({ name }) => name.startsWith("<")).map(() => "x");
  const rows = (verb.options ?? []).filter(({ flags }) => flags.includes("<"));
  return rows.map((row): [string, string[], boolean] => {
    const flag = /--[a-z0-9-]+/.exec(row.flags)![0];
    const required = (verb.options ?? []).filter((other) => other.required && other !== row);
    const others = required.flatMap(({ flags }) => [/--[a-z0-9-]+/.exec(flags)![0], "x"]);
    return [`${verb.name} ${flag}`, [...verb.name.split(" "), ...needed, ...others, flag, ""], row.mayBeEmpty ?? false];
  });
});

it.each(valued.filter(([, , mayBeEmpty]) => !mayBeEmpty))("%s takes no empty text for a value", async (_, line) => {
  const { code, stdout, stderr } = await testCli(line);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^error: option '.*' (is given an empty text|argument '' is invalid)/);
});

it.each(["example", "repository/example", "repo/example"])("approve knows %s as the others do", async (name) => {
  const plan = async (asked: string) => {
    expect(asked).toBe("example");
    return { held: [] } as never;
  };
  const run = await testCli(["approve", name], {
    client: { plan, list: async () => [repositoryItem("example")] as never },
  });
  expect(run).toMatchObject({ code: 0, stdout: "Nothing of example waits for an approval.\n" });
});

it("that nothing happened to one object is not told of the whole namespace", async () => {
  const { stderr } = await testCli(["events", "function", "hello"], { client: { events: async () => [] } });
  expect(stderr).toBe("Nothing happened to function hello in namespace default that is still known.\n");
});

it.each(["get", "describe", "delete"])("%s of a secret names the verbs that secrets have", async (verb) => {
  const { code, stderr } = await testCli([verb, "secret", "api"]);
  expect(code).toBe(2);
  expect(stderr).toContain("`sless secret list`");
});

it.each([
  ["plan", "--base", "HEAD~1"],
  ["plan", "--head", "HEAD~1"],
])("%s %s %s in a shallow clone says what brings the commit", async (...line) => {
  const { dir, commit } = await gitRepository({ "README.md": "one" });
  await commit("two", { "README.md": "two" });
  const cwd = join(await temporaryFolder(), "clone");
  await promisify(execFile)("git", ["clone", "-q", "--depth", "1", `file://${dir}`, cwd]);
  const { code, stderr } = await testCli(line, {
    cwd,
    deps: { openGitReader: (repository) => openIsomorphicReader({ repository }) },
  });
  expect(code).toBe(2);
  expect(stderr).toContain("this clone is shallow: `git fetch --unshallow` brings what it lacks");
});

it("plan --server takes a commit that is not there for mistyped", async () => {
  const { dir } = await gitRepository({ "README.md": "one" });
  const { code, stderr } = await testCli(["plan", "--server", "--head", "mian"], {
    cwd: dir,
    deps: { openGitReader: (repository) => openIsomorphicReader({ repository }) },
    client: { listObjects: async () => [] },
  });
  expect(code).toBe(2);
  expect(stderr).toContain("mian");
  expect(stderr).not.toContain("spec");
});

it("a pull into a new folder of what a repository owns says how it is pulled", async () => {
  const metadata = { namespace: "default", uid: "u", generation: 1, resourceVersion: "1", creationTimestamp: "" };
  const of = (kind: string, name: string, spec: object, annotations = {}) =>
    ({ apiVersion: "sless.kube5s.ru/v1alpha1", kind, metadata: { ...metadata, name, annotations }, spec }) as never;
  const owner = { "sless.kube5s.ru/owner": "u/Function/default/hello" };
  const objects: Record<string, never[]> = {
    repositories: [of("Repository", "team", { url: "https://git.example.com/team.git" })],
    functions: [of("Function", "hello", { runtime: "python3.11" }, owner)],
  };
  const into = join(await temporaryFolder(), "new");
  const client = { listObjects: async (plural: string) => objects[plural] ?? [] };
  const { stdout, stderr } = await testCli(["pull", "--into", into], { client });
  expect(stdout).toContain("belongs to repository team");
  expect(stderr).toBe("Is this the folder of team? Then pull with --repository team.\n");
});
