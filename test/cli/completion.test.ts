import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { SHELLS } from "../../src/cli/completion-scripts.ts";
import { VERBS } from "../../src/cli/verbs.ts";
import type { SlessClient } from "../../src/server/client.ts";
import { eventually } from "../support/eventually.ts";
import { httpServer } from "../support/http-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

const run = promisify(execFile);
const names: Record<string, string[]> = {
  functions: ["hello", "shop"],
  services: ["chat"],
  jobs: ["report"],
  triggers: [],
  repositories: ["example"],
};
const client = {
  list: async (plural: string) => names[plural]!.map((name) => ({ name })),
  listSecrets: async () => [{ name: "api" }],
} as unknown as Partial<SlessClient>;

async function completed(words: readonly string[], options: Parameters<typeof testCli>[1] = { client }) {
  const { code, stdout, stderr } = await testCli(["__complete", "--", ...words], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").slice(0, -1);
}
const wordsOf = async (...words: string[]) => (await completed(words)).map((line) => line.split("\t")[0]);

const single = VERBS.map(({ name }) => name).filter((name) => !name.includes(" "));
const cases: [string[], string[]][] = [
  [[""], [...single, "secret"]],
  [["re"], ["reconcile", "resume"]],
  [
    ["secret", ""],
    ["set", "list", "delete"],
  ],
  [["secret", "set", ""], ["api"]],
  [["nothing", ""], []],
  [["get", "f"], ["functions"]],
  [
    ["get", "fn", ""],
    ["hello", "shop"],
  ],
  [["get", "functions", "s"], ["shop"]],
  [
    ["get", "functions/"],
    ["functions/hello", "functions/shop"],
  ],
  [["get", "nothing", ""], []],
  [
    ["get", "functions", "-o", ""],
    ["wide", "json", "yaml", "name"],
  ],
  [["get", "functions", "-n", "team", "h"], ["hello"]],
  [["pull", "--repository", ""], ["example"]],
  [["plan", "--repository", ""], ["example"]],
  [["get", "-n", ""], []],
  [["get", "functions", "--out"], ["--output"]],
  [["delete", "fn", "hello", "s"], ["shop"]],
  [["delete", "fn/hello", "repo/"], ["repo/example"]],
  [
    ["logs", ""],
    ["hello", "shop", "chat", "report"],
  ],
  [["logs", "-f", "h"], ["hello"]],
  [["logs", "fn", "h"], ["hello"]],
  [["logs", "--", "h"], ["hello"]],
  [["suspend", ""], ["example"]],
  [["create", ""], ["repository"]],
  [["create", "repository", ""], []],
  [["create", "repository", "team", "--secret", ""], ["api"]],
  [["set", "repository", "e"], ["example"]],
  [
    ["set", "example", "--deletion-policy", ""],
    ["Orphan", "Delete"],
  ],
  [
    ["set", "example", "--max"],
    ["--max-deletions", "--max-percent"],
  ],
  [["suspend", "repo", "e"], ["example"]],
  [
    ["init", "x", "--runtime", "python"],
    ["python3.11", "python3.13"],
  ],
  [["plan", "--repo", ""], [":files"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [["version", ""], []],
];
it.each(cases)("%j may become %j", async (words, expected) => {
  expect(await wordsOf(...words)).toEqual(expected);
});

it("verbs and options come with what they do", async () => {
  expect(await completed(["inv"])).toEqual(["invoke\tCall a function or service and print its answer"]);
  expect(await completed(["logs", "--b"])).toEqual(["--build\toutput of the last build instead"]);
});

it.each(["--help", ...single])("%s is offered for every verb that has it", async (word) => {
  if (word === "--help") expect(await wordsOf("get", "--h")).toEqual(["--help"]);
  else expect(await wordsOf(word.slice(0, 3))).toContain(word);
});

describe("the server that is asked for names", () => {
  it("is the one of the line, in its namespace", async () => {
    const asked: unknown[] = [];
    const createClient = (options: unknown) => {
      const list = async (_plural: unknown, where: unknown) => {
        asked.push(options, where);
        return [];
      };
      return { list, close: async () => {} } as never;
    };
    const words = ["get", "functions", "--endpoint", "http://there:1", "-n", "team", ""];
    await completed(words, { deps: { createClient }, env: { SLESS_API_TOKEN: "t" } });
    expect(asked).toEqual([{ endpoint: "http://there:1", token: "t" }, { namespace: "team" }]);
  });

  it("may fail or not answer: then there are no names, soon and without a word", async () => {
    const failing = { list: () => Promise.reject(new Error("refused")) };
    expect(await completed(["get", "functions", ""], { client: failing })).toEqual([]);
    const silent = { list: () => new Promise<never>(() => {}) };
    const begun = performance.now();
    expect(await completed(["get", "functions", ""], { client: silent })).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});

it.each(SHELLS)("the script for %s asks sless, and says how it is used", async (shell) => {
  const { code, stdout } = await testCli(["completion", shell]);
  expect(code).toBe(0);
  expect(stdout).toContain("sless __complete -- ");
  expect(stdout).toContain(`sless completion ${shell}`);
});

it("another shell is refused with those that are known", async () => {
  const { code, stderr } = await testCli(["completion", "powershell"]);
  expect(code).toBe(2);
  expect(stderr).toContain("none of bash, zsh, fish");
});

it("bash completes verbs, names of a server and files", async () => {
  const server = await httpServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ items: [{ name: "hello" }, { name: "shop" }] }));
  });
  const folder = await temporaryFolder();
  await mkdir(join(folder, "a folder"));
  const program = join(folder, "sless");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${resolve("src/app/sless.ts")}" "$@"\n`);
  await chmod(program, 0o755);
  const script = `
    source <(sless completion bash)
    try() { COMP_WORDS=(sless "$@"); COMP_CWORD=$#; _sless; printf '%s|' "\${COMPREPLY[@]}"; echo; }
    try desc; try get functions ""; try plan --repo a; try get ""`;
  const env = { PATH: `${folder}:/usr/bin:/bin`, SLESS_ENDPOINT: server.origin };
  const completed = async () => {
    const { stdout } = await run("/bin/bash", ["-c", script], { cwd: folder, env });
    return stdout.split("\n").slice(0, 4);
  };
  const expected = ["describe|", "hello|shop|", "a folder|", "functions|services|triggers|jobs|repositories|"];
  // A server that does not answer soon, as on a busy machine, has no names.
  await eventually("bash completes", completed, (lines) => lines.join("\n") === expected.join("\n"));
});
