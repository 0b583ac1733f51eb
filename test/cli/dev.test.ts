import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { EmbeddedApp, EmbeddedOptions } from "../../src/cli/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { openIsomorphicReader } from "../../src/source/isomorphic/index.ts";
import { gitRepository, runGit } from "../support/git-repository.ts";
import { jobItem, repositoryItem, workloadItem } from "../support/items.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type TestCliOptions, testCli } from "../support/test-cli.ts";

const items = {
  functions: [
    workloadItem("hello"),
    workloadItem("shop", { phase: "Failed", url: undefined, message: "No pip.\nTraceback\n  line 1" }),
  ],
  services: [workloadItem("visits")],
  jobs: [jobItem("report")],
};
const client = {
  list: async (plural: keyof typeof items) => items[plural],
  get: async (_plural: string, name: string) => repositoryItem(name),
} as unknown as NonNullable<TestCliOptions["client"]>;

/** `sless dev` over an embedded app that starts, settles, and is interrupted once it has shown its first look. */
async function dev(argv: readonly string[], options: TestCliOptions & { app?: Partial<EmbeddedApp> } = {}) {
  const started: EmbeddedOptions[] = [];
  const closed: string[] = [];
  const interrupt = new AbortController();
  const app: EmbeddedApp = {
    url: "http://127.0.0.1:9090",
    settled: async () => {},
    close: async () => void closed.push("app"),
    ...options.app,
  };
  const run = await testCli(["dev", ...argv], {
    client,
    signal: interrupt.signal,
    onOutput: (text) => text.includes("Call one:") && interrupt.abort(),
    ...options,
    deps: {
      startEmbedded: async (given) => {
        started.push(given);
        return app;
      },
      openGitReader: (repository) => openIsomorphicReader({ repository }),
      ...options.deps,
    },
  });
  return { ...run, started: started[0], closed };
}

it("the example is made, deployed, listed, and its next steps are told", async () => {
  const cwd = await temporaryFolder();
  const { code, stdout, stderr, started, closed } = await dev(["--example"], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "Made .sless/example.git.
    Following .sless/example.git, data in .sless; Ctrl-C ends it.

    NAME    KIND      PHASE      URL
    hello   function  Ready      http://127.0.0.1:9090/fn/default/hello
    shop    function  Failed     -
    visits  service   Ready      http://127.0.0.1:9090/fn/default/visits
    report  job       Succeeded  -

    ✗ shop: No pip.

    Call one:
      curl -d '{"name":"Ada"}' http://127.0.0.1:9090/fn/default/hello
    Change it:
      git clone .sless/example.git my && cd my
      sed -i.bak 's/Hello/Welcome/' functions/hello/handler.py && rm functions/hello/*.bak
      git commit -am "A warmer hello" && git push
    "
  `);
  expect(stderr).toBe("Stopping ...\n");
  expect(closed).toEqual(["app"]);
  expect(started).toMatchObject({
    data: join(cwd, ".sless"),
    port: 9090,
    repository: {
      name: "example",
      path: join(cwd, ".sless/example.git"),
      ref: { branch: "main" },
      namespace: "default",
    },
  });
});

it("of a repository of one's own no step is told that is the example's alone", async () => {
  const repository = await gitRepository({ a: "1" });
  const { stdout } = await dev(["--data", "kept"], { cwd: repository.dir });
  expect(stdout.split("\n\n").at(-1)).toBe(
    `Call one:\n  curl -d '{"name":"Ada"}' http://127.0.0.1:9090/fn/default/hello\nCommit to . and it is live.\n`,
  );
});

it("nobody is told to call what has no address", async () => {
  const repository = await gitRepository({ a: "1" });
  const interrupt = new AbortController();
  const list = async (plural: string) => (plural === "functions" ? [workloadItem("hello", { url: undefined })] : []);
  const { stdout } = await dev(["--data", "kept"], {
    cwd: repository.dir,
    client: { ...client, list } as unknown as NonNullable<TestCliOptions["client"]>,
    signal: interrupt.signal,
    onOutput: (text) => text.includes("it is live") && interrupt.abort(),
  });
  expect(stdout).not.toContain("curl");
});

it("the data folder is no part of the work tree around it", async () => {
  const repository = await gitRepository({ a: "1" });
  await dev(["--data", "kept"], { cwd: repository.dir });
  expect(await runGit(repository.dir, "status", "--porcelain")).toBe("");
  expect(await readFile(join(repository.dir, "kept/.gitignore"), "utf8")).toBe("*\n");
  expect(await readFile(join(repository.dir, "kept/package.json"), "utf8")).toBe("{}\n");
});

it("options and settings reach the embedded app", async () => {
  const repository = await gitRepository({ a: "1" }, { bare: true });
  const argv = [
    "--repo",
    repository.dir,
    "--path",
    "team",
    "-n",
    "shop",
    "--port",
    "0",
    "--data",
    "d",
    "--ref",
    "main",
  ];
  const { started } = await dev(argv, { cwd: await temporaryFolder() });
  expect(started).toMatchObject({
    port: 0,
    repository: {
      name: "repository",
      path: repository.dir,
      ref: { branch: "main" },
      subPath: "team",
      namespace: "shop",
    },
  });
});

it("a name is a branch, else a tag, else a branch that may come; 40 digits are a commit", async () => {
  const repository = await gitRepository({ a: "1" });
  await repository.git("tag", "v1");
  const refOf = async (ref: string) => (await dev(["--ref", ref], { cwd: repository.dir })).started?.repository.ref;
  expect(await refOf("main")).toEqual({ branch: "main" });
  expect(await refOf("v1")).toEqual({ tag: "v1" });
  expect(await refOf("later")).toEqual({ branch: "later" });
  expect(await refOf(repository.head)).toEqual({ commit: repository.head });
  expect((await dev([], { cwd: repository.dir })).started?.repository.ref).toEqual({});
});

it("the work tree around a folder is followed, and saving is what is tried next", async () => {
  const repository = await gitRepository({ "functions/a": "1" });
  const stop = new AbortController();
  const { started, stdout } = await dev(["--worktree", "functions"], {
    cwd: repository.dir,
    signal: stop.signal,
    onOutput: (text) => text.includes("it is live") && stop.abort(),
  });
  expect(started).toMatchObject({ repository: { path: repository.dir, ref: {}, worktree: true, subPath: "" } });
  expect(stdout).toContain("\nSave a file in . and it is live.\n");
});

it("a work tree without functions is told how to make one, which need not be committed", async () => {
  const repository = await gitRepository({ a: "1" });
  const stop = new AbortController();
  const { stdout } = await dev(["--worktree", "."], {
    cwd: repository.dir,
    client: { ...client, list: async () => [] },
    signal: stop.signal,
    onOutput: (text) => text.includes("sless init") && stop.abort(),
  });
  expect(stdout).not.toContain("commit");
});

it.each([
  [["--ref", "main"], "--ref"],
  [["--repo", "."], "--repo"],
  [["--example", "--ref", "main"], "--ref and --example"],
])("a work tree and %j are refused together", async (others, told) => {
  const repository = await gitRepository({ a: "1" });
  const { code, stderr, started } = await dev(["--worktree", ".", ...others], { cwd: repository.dir });
  expect({ code, started }).toEqual({ code: 2, started: undefined });
  expect(stderr).toContain(`so ${told} cannot stand beside it`);
});

it("the example and a repository are refused together", async () => {
  const { code, stderr, started } = await dev(["--example", "--repo", "."], { cwd: await temporaryFolder() });
  expect({ code, started }).toEqual({ code: 2, started: undefined });
  expect(stderr).toContain("so --repo cannot stand beside it");
});

it("a bare repository has no work tree to follow", async () => {
  const repository = await gitRepository({ a: "1" }, { bare: true });
  const { code, stderr, started } = await dev(["--worktree", repository.dir], { cwd: await temporaryFolder() });
  expect({ code, started }).toEqual({ code: 2, started: undefined });
  expect(stderr).toContain("is bare");
});

it("without functions it is told how to make one", async () => {
  const repository = await gitRepository({ a: "1" });
  const stop = new AbortController();
  const { stdout } = await dev([], {
    cwd: repository.dir,
    client: { ...client, list: async () => [] },
    signal: stop.signal,
    onOutput: (text) => text.includes("sless init") && stop.abort(),
  });
  expect(stdout).toContain("No functions in . yet.");
});

it("an interrupt before everything has settled closes the app", async () => {
  const stop = new AbortController();
  const { code, closed } = await dev(["--example"], {
    cwd: await temporaryFolder(),
    app: {
      settled: () => {
        stop.abort();
        return new Promise<void>(() => {});
      },
    },
    signal: stop.signal,
  });
  expect({ code, closed }).toEqual({ code: 0, closed: ["app"] });
});

it("a port that is taken is told with what to do", async () => {
  const startEmbedded = () => Promise.reject(new SlessError("port_taken", { port: 9090 }));
  const { code, stderr } = await dev(["--example"], { cwd: await temporaryFolder(), deps: { startEmbedded } });
  expect(code).toBe(2);
  expect(stderr).toContain("Port 9090 is taken.");
  expect(stderr).toContain("--port");
});

it("a folder without a repository starts nothing", async () => {
  const cwd = await temporaryFolder();
  const { code, stderr, started } = await dev([], { cwd });
  expect({ code, started }).toEqual({ code: 2, started: undefined });
  expect(stderr).toContain("is no Git repository");
  expect(await readdir(cwd)).toEqual([]);
});

it.each([false, true])("a repository is no data folder and stays as it is (bare: %s)", async (bare) => {
  const cwd = await temporaryFolder();
  await runGit(cwd, "init", "-q", ...(bare ? ["--bare"] : []));
  const before = await readdir(cwd);
  const { code, stderr, started } = await dev(["--data", "."], { cwd });
  expect({ code, started }).toEqual({ code: 2, started: undefined });
  expect(stderr).toContain("--data . is a repository itself");
  expect(await readdir(cwd)).toEqual(before);
});

it.each(["taken", ...(process.platform === "linux" ? ["/proc/x"] : [])])(
  "a data folder that cannot be made is told (%s)",
  async (data) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "taken"), "");
    const { code, stderr } = await dev(["--example", "--data", data], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("cannot be written or read");
  },
);

it("what happens meanwhile is shown", async () => {
  const object = { kind: "Function", namespace: "default", name: "hello" } as const;
  const { stdout } = await dev(["--example"], {
    cwd: await temporaryFolder(),
    deps: {
      startEmbedded: async ({ report }) => {
        report({ step: "built", object, imageRef: "i", reused: false, durationMs: 12 });
        report({ step: "serving", object, url: undefined, durationMs: 160 });
        return { url: "http://127.0.0.1:9090", settled: async () => {}, close: async () => {} };
      },
    },
  });
  expect(stdout).toContain("hello  built 12ms → serving 160ms\n");
});

it("sources and images go where the flags say, and the first line says so", async () => {
  const repository = await gitRepository({ "function.yaml": "" });
  const { started, stdout } = await dev(
    [
      ...["--s3-endpoint", "http://127.0.0.1:7070", "--s3-bucket", "sless"],
      ...["--registry", "127.0.0.1:5000", "--registry-mirror", "127.0.0.1:5001", "--registry-config", "docker.json"],
    ],
    { cwd: repository.dir, env: { S3_ACCESS_KEY: "key", S3_SECRET_KEY: "hidden" } },
  );
  expect(started?.stores).toMatchObject({
    s3: { bucket: "sless", endpoint: "http://127.0.0.1:7070", credentials: { accessKeyId: "key" } },
    registry: {
      ...{ host: "127.0.0.1:5000", mirror: "127.0.0.1:5001" },
      dockerConfig: join(repository.dir, "docker.json"),
    },
  });
  expect(stdout).toContain(
    "Keeping sources in the bucket sless at http://127.0.0.1:7070 and images in the registry 127.0.0.1:5000.\n",
  );
  expect(stdout).not.toContain("hidden");
});

it("wrong places are refused before anything is made", async () => {
  const cwd = await temporaryFolder();
  const { code, stderr, started } = await dev(["--example", "--registry", "http://127.0.0.1:5000"], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain("--registry");
  expect(stderr).toContain("without http://");
  expect(started).toBeUndefined();
  expect(await readdir(cwd)).toEqual([]);
});

it("a place of images alone leaves sources in the data folder", async () => {
  const { started, stdout } = await dev(["--example", "--registry", "localhost:5000/team"], {
    cwd: await temporaryFolder(),
  });
  expect(started?.stores).toMatchObject({ s3: undefined, registry: { host: "localhost:5000", prefix: "team/" } });
  expect(stdout).toContain("Keeping images in the registry localhost:5000/team.\n");
});
