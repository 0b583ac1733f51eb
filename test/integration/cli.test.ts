import { describe, expect, it } from "vitest";
import { createClient } from "../../src/server/client.ts";
import { openIsomorphicReader } from "../../src/source/isomorphic/index.ts";
import { answering, pythonFunction, startTestApp } from "../support/embedded.ts";
import { gitRepository } from "../support/git-repository.ts";
import { testCli } from "../support/test-cli.ts";

const FILES = { ...pythonFunction("one", answering("1")), ...pythonFunction("two", answering("2")) };

/** A server that has synced a repository of two functions, and a command line that talks to it. */
async function synced() {
  const repository = await gitRepository(FILES);
  const { app } = await startTestApp(repository);
  await app.settled();
  const deps = { createClient, openGitReader: (path: string) => openIsomorphicReader({ repository: path }) };
  const sless = (...argv: string[]) =>
    testCli([...argv, "--endpoint", app.url], { deps, cwd: repository.work, env: { NO_COLOR: "1" } });
  const post = (plural: string, body: object) =>
    fetch(`${app.url}/v1/namespaces/default/${plural}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  return { repository, sless, post };
}

describe("sless diff", () => {
  it("is 0 for what runs, 1 with what would change, 2 with what is faulty", async () => {
    const { repository, sless } = await synced();
    const same = await sless("diff");
    expect(same).toEqual({ code: 0, stdout: "4 unchanged\n", stderr: "" });

    await repository.git("switch", "--quiet", "--create", "change");
    const one = pythonFunction("one", answering("other"), { memoryMB: 256 });
    const gone = Object.fromEntries(Object.keys(pythonFunction("two", "")).map((path) => [path, null]));
    await repository.commit("change", { ...one, ...gone, ...pythonFunction("three", answering("3")) });
    const differs = await sless("diff", "repository", "test");
    expect(differs).toMatchObject({ code: 1, stderr: "" });
    expect(differs.stdout).toMatchInlineSnapshot(`
      "~ Function/default/one   code, memoryMB 128 → 256   append: only code changed   (functions/one/function.yaml:2)
      + Function/default/three   append: nothing is to be installed   (functions/three/function.yaml:2)
      + Trigger/default/three-http   (functions/three/function.yaml:8)
      - Trigger/default/two-http   (functions/two/function.yaml)
      - Function/default/two   (functions/two/function.yaml)
      2 to create, 1 to update (1 code, 1 configuration), 2 to delete, 1 unchanged; builds: 2 append
      "
    `);
    expect((await sless("diff", "--head", "main")).code).toBe(0);
    const document = JSON.parse((await sless("diff", "-o", "json")).stdout);
    expect(document.counts).toMatchObject({ create: 2, update: 1, delete: 2, unchanged: 1 });

    await repository.commit("fault", {
      "functions/one/function.yaml": "apiVersion: sless.kube5s.ru/v1alpha1\nkind: Fn\n",
    });
    const faulty = await sless("diff");
    expect(faulty.code).toBe(2);
    expect(faulty.stdout).toContain("functions/one/function.yaml:2");
    expect(faulty.stdout).toContain("nothing is deleted while a manifest is faulty");
  });

  it("tells what is in the way of a new object, and which repositories there are", async () => {
    const { repository, sless, post } = await synced();
    expect((await post("functions", { name: "three", runtime: "nodejs20" })).status).toBe(201);
    await repository.git("switch", "--quiet", "--create", "change");
    await repository.commit("three", pythonFunction("three", answering("3")));
    const { code, stdout } = await sless("diff");
    expect(code).toBe(2);
    expect(stdout).toMatch(/refused: it exists, nobody owns it, and it differs: .*runtime nodejs20 → python3\.11/);
    expect((await sless("diff", "none")).stderr).toContain("Repository default/none does not exist");
    expect((await sless("diff", "-n", "team")).stderr).toContain("namespace team has no repository");
  });
});

it("tree, events and delete know what a repository owns and what nobody does", async () => {
  const { sless, post } = await synced();
  await post("functions", { name: "mine", runtime: "python3.11" });
  await post("triggers", { name: "mine-http", type: "http", function_ref: "mine" });
  const names = async (...words: string[]) => (await sless("tree", ...words, "-o", "name")).stdout.trim().split("\n");
  const owned = ["repository/test", "function/one", "trigger/one-http", "function/two", "trigger/two-http"];
  expect(await names("test")).toEqual(owned);
  expect(await names()).toEqual([...owned, "function/mine", "trigger/mine-http"]);
  expect((await sless("tree")).stdout).toMatch(
    /function\/one {2}Ready {2}1\/1 {2}http:.*\n│ {2}└─ trigger\/one-http {2}Active/,
  );

  expect((await sless("events", "function", "one")).stdout).toMatch(/Normal +Serving +function\/one/);
  const refused = await sless("delete", "function", "one");
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("is owned by repository test (functions/one/function.yaml");
  expect(await sless("delete", "fn/mine", "trg/mine-http")).toMatchObject({
    code: 0,
    stdout: "function/mine deleted\ntrigger/mine-http deleted\n",
  });
  expect(await names()).toEqual(owned);
  expect((await sless("delete", "fn", "mine")).stderr).toContain("does not exist");
});
