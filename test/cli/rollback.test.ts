import { expect, it } from "vitest";
import { openLocalReader } from "../../src/app/open-git-reader.ts";
import { type KeptRevisionItem, ServerError, type SlessClient } from "../../src/server/client.ts";
import { findGit } from "../../src/source/index.ts";
import { answering, pythonFunction } from "../support/embedded.ts";
import { type GitRepository, gitRepository, isolatedGitEnvironment } from "../support/git-repository.ts";
import { repositoryItem, workloadItem } from "../support/items.ts";
import { testCli } from "../support/test-cli.ts";

const git = await findGit(process.env.PATH);
const hello = (value: unknown) => pythonFunction("hello", answering(value));
const DIGESTS = ["1".repeat(64), "2".repeat(64)];

interface World {
  readonly repository: GitRepository;
  readonly run: (...args: string[]) => ReturnType<typeof testCli>;
}

/** A checkout of two commits, and a server on which both served. */
async function world(fields: Partial<KeptRevisionItem> = {}, branch = "main"): Promise<World> {
  const repository = await gitRepository(hello(1));
  const second = await repository.commit("two", hello(2));
  const history = [second, repository.head].map((commit, index) => ({
    number: 2 - index,
    source_digest: DIGESTS[1 - index],
    image_ref: `image:${2 - index}`,
    revision: `main@sha1:${commit}`,
    path: "functions/hello/function.yaml",
    served_at: new Date().toISOString(),
    source_present: true,
    image_present: true,
    ...fields,
  }));
  const client = {
    get: async (plural: string, name: string) => {
      if (plural === "functions" && name === "hello")
        return workloadItem(name, { s3_key: `functions/default/hello/${DIGESTS[1]}.zip` });
      throw new ServerError(404, { error: "It is not there.", code: "not_found" });
    },
    history: async () => history,
    list: async () => [repositoryItem("example", { ref: { branch } })],
  } as unknown as Partial<SlessClient>;
  const openGitReader = async (path: string) => openLocalReader({ repository: path, git });
  const env = isolatedGitEnvironment(repository.work);
  const run = (...args: string[]) =>
    testCli(["rollback", "hello", ...args], { client, deps: { openGitReader }, cwd: repository.work, env });
  return { repository, run };
}

it("rollback makes the commit, names it and says to push it", async () => {
  const { repository, run } = await world();
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([0, ""]);
  const commit = await repository.git("rev-parse", "--short=7", "HEAD");
  const [head, file, took, next] = stdout.split("\n");
  expect(head).toBe(" FILE                        CHANGE    LINES");
  expect(file).toBe(" functions/hello/handler.py  modified  +1 -1");
  expect(took).toMatch(
    new RegExp(
      `^Took function/hello back to number 1 \\(main@sha1:${repository.head.slice(0, 7)}, served \\d+s ago\\): ` +
        `functions/hello in commit ${commit} on main\\.$`,
    ),
  );
  expect(next).toMatch(/`git push` deploys it\.$/);
});

it("a dry run shows the files and changes nothing", async () => {
  const { repository, run } = await world();
  const head = await repository.git("rev-parse", "HEAD");
  const { code, stdout } = await run("--dry-run");
  expect(code).toBe(1);
  expect(stdout).toContain("functions/hello/handler.py  modified  +1 -1");
  expect(stdout).toContain("Would take function/hello back to number 1");
  expect(await repository.git("rev-parse", "HEAD")).toBe(head);
});

it("the outcome can be had as JSON, YAML and a name", async () => {
  const { repository, run } = await world();
  const dry = JSON.parse((await run("--dry-run", "-o", "json")).stdout);
  expect(dry).toMatchObject({ kind: "Function", name: "hello", dry_run: true, branch: "main" });
  expect(dry).not.toHaveProperty("commit");
  const { stdout } = await run("-o", "json", "--to", "1");
  expect(JSON.parse(stdout)).toEqual({
    kind: "Function",
    name: "hello",
    dry_run: false,
    to: {
      number: 1,
      revision: `main@sha1:${repository.head}`,
      commit: repository.head,
      source_digest: DIGESTS[0],
      image_present: true,
    },
    branch: "main",
    commit: await repository.git("rev-parse", "HEAD"),
    same_source: false,
    places: ["functions/hello"],
    files: [{ path: "functions/hello/handler.py", change: "modified", added: 1, deleted: 1 }],
  });
  expect((await run("-o", "name", "--to", "2")).stdout).toBe("function/hello\n");
});

it("on another branch than the one that is followed it says where the commit has to go", async () => {
  const { run } = await world({}, "production");
  expect((await run()).stdout).toContain("it is deployed once it is on production");
});

it.each([
  ["a revision that never served", ["--to", "99"], /nothing that served is "99".*sless history hello/],
  ["a folder of no repository", ["--repo", "/"], /\/ /],
])("%s is refused", async (_what, args, says) => {
  const { run } = await world();
  const { code, stderr } = await run(...args);
  expect(code).toBe(2);
  expect(stderr.replaceAll("\n", " ")).toMatch(says);
});

it("what was uploaded is in no commit", async () => {
  const { run } = await world({ revision: undefined });
  const { code, stderr } = await run();
  expect([code, stderr]).toEqual([2, expect.stringContaining("number 1 was uploaded")]);
});

it("a bare repository has no folder to restore", async () => {
  const { repository, run } = await world();
  const bare = await repository.bareClone();
  const { code, stderr } = await run("--repo", bare.dir);
  expect([code, stderr]).toEqual([2, expect.stringContaining("is a bare repository; name a checkout of it")]);
});
