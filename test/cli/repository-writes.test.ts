import { expect, it } from "vitest";
import { ServerError, type SlessClient } from "../../src/server/client.ts";
import { repositoryItem } from "../support/items.ts";
import { testCli } from "../support/test-cli.ts";

const URL = "https://git.example.com/team/functions.git";
const NO_REF = { branch: null, tag: null, semver: null, commit: null };

/** A client that keeps what is written, and has one repository that is synced at once. */
function writing({ ready = "True", ...after }: { ready?: "True" | "False"; interval?: string } = {}) {
  const asked: unknown[][] = [];
  const object = {
    kind: "Repository",
    metadata: { name: "team" },
    spec: { url: URL },
    status: {
      conditions: [{ type: "Ready", status: ready, reason: "GitOperationFailed", message: "No." }],
      lastHandledReconcileAt: "2024-01-01T00:00:01.000Z",
    },
  };
  const client: Partial<SlessClient> = {
    get: async () => repositoryItem("team") as never,
    getObject: async () => object as never,
    create: async (...args) => {
      asked.push(["create", ...args]);
      return repositoryItem("team", after) as never;
    },
    patch: async (...args) => {
      asked.push(["patch", ...args]);
      return repositoryItem("team", after) as never;
    },
    reconcile: async (name) => {
      asked.push(["reconcile", name]);
      return { requested_at: "2024-01-01T00:00:01.000Z" };
    },
  };
  return { client, asked };
}

const created: Record<string, [string[], object]> = {
  "a name and an address": [[], {}],
  "a branch": [["--branch", "next"], { ref: { branch: "next" } }],
  "a range and a folder": [["--semver", "1.x", "--path", "prod"], { ref: { semver: "1.x" }, path: "prod" }],
  "a secret and times": [
    ["--secret", "git", "--interval", "5m", "--timeout", "30s"],
    { secret_ref: { name: "git" }, interval: "5m", timeout: "30s" },
  ],
  "a secret for webhooks": [["--webhook-secret", "hook"], { webhook_secret_ref: { name: "hook" } }],
  "what becomes of objects": [
    ["--no-prune", "--deletion-policy", "Delete", "--max-deletions", "0"],
    { prune: false, deletion_policy: "Delete", deletion_guard: { max_deletions: 0 } },
  ],
  "empty texts, which are defaults": [["--path", "", "--branch", "", "--secret", "", "--max-percent", ""], {}],
};
it.each(Object.entries(created))("create takes %s", async (_, [flags, fields]) => {
  const { client, asked } = writing();
  const { code, stdout } = await testCli(["create", "repository", "team", "--url", URL, ...flags], { client });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "repository/team created\n" });
  const { deletion_guard = {}, ...rest } = (asked[0]?.[2] ?? {}) as { deletion_guard?: object };
  expect({ ...rest, ...(Object.keys(deletion_guard).length > 0 && { deletion_guard }) }).toEqual({
    name: "team",
    url: URL,
    ...fields,
  });
  expect(asked).toEqual([["create", "repositories", expect.anything(), { namespace: "default" }]]);
});

const changed: Record<string, [string[], object]> = {
  "a branch, in the place of whatever was followed": [["--branch", "next"], { ref: { ...NO_REF, branch: "next" } }],
  "the default branch": [["--branch", ""], { ref: null }],
  "fields back to their defaults": [
    ["--path", "", "--secret", "", "--max-percent", ""],
    { path: null, secret_ref: null, deletion_guard: { max_percent: null } },
  ],
  "an address and a limit": [
    ["--url", URL, "--max-percent", "100"],
    { url: URL, deletion_guard: { max_percent: 100 } },
  ],
  "pruning again": [["--prune"], { prune: true }],
};
it.each(Object.entries(changed))("set names %s and nothing else", async (_, [flags, fields]) => {
  const { client, asked } = writing();
  expect((await testCli(["set", "repo/team", ...flags, "-n", "other"], { client })).code).toBe(0);
  expect(asked).toEqual([["patch", "repositories", "team", fields, { namespace: "other" }]]);
});

it("set says what it changed, or that nothing was to change", async () => {
  const { client } = writing({ interval: "5m" });
  const argv = ["set", "team", "--interval", "5m", "--timeout", "1m"];
  expect((await testCli(argv, { client })).stdout).toBe("repository/team changed: interval\n");
  const { stdout } = await testCli(argv, { client: writing().client });
  expect(stdout).toBe("repository/team is so already\n");
});

const refused: Record<string, [string[], string]> = {
  "create without an address": [["create", "repository", "team"], "--url"],
  "create without a name": [["create", "repository", "--url", URL], "by name"],
  "create of another kind": [["create", "function", "team", "--url", URL], "create is for one repository"],
  "create of two refs": [["create", "team", "--url", URL, "--tag", "v1", "--semver", ""], "--tag and --semver"],
  "set of nothing": [["set", "repository", "team"], "nothing is named that changes"],
  "set of a policy that is none": [["set", "team", "--deletion-policy", "Keep"], "Orphan, Delete"],
  "set of a number that is none": [["set", "team", "--max-deletions", "few"], "--max-deletions few is no whole number"],
};
it.each(Object.entries(refused))("%s is refused and names the help", async (_, [argv, message]) => {
  const { client, asked } = writing();
  const { code, stdout, stderr } = await testCli(argv, { client });
  expect({ code, stdout, asked }).toEqual({ code: 2, stdout: "", asked: [] });
  expect(stderr).toContain(message);
  expect(stderr).toContain(`sless ${argv[0]} --help`);
});

it("what the server refuses is told with its reasons, each once", async () => {
  const error = "The request is not valid: url names ssh; use https.";
  const details = [{ field: "url", message: "names ssh; use https" }];
  const create = () => Promise.reject(new ServerError(400, { error, code: "invalid_request", details }));
  const { code, stderr } = await testCli(["create", "team", "--url", "ssh://a/b"], { client: { create } });
  expect({ code, stderr }).toEqual({ code: 2, stderr: "error: The request is not valid: url: names ssh; use https\n" });
});

it.each([
  ["True", 0, "team  no revision  ready\n"],
  ["False", 1, "team  no revision  GitOperationFailed\n  No.\n"],
] as const)("--wait with Ready %s exits with %i and tells the outcome", async (ready, code, told) => {
  const { client, asked } = writing({ ready });
  const run = await testCli(["create", "team", "--url", URL, "--wait"], { client });
  expect(run).toEqual({ code, stdout: `repository/team created\n${told}`, stderr: "" });
  expect(asked[1]).toEqual(["reconcile", "team"]);
});

it.each([
  ["name", "repository/team\n"],
  ["json", '"url": "https://git.example.com/team/functions.git"'],
  ["yaml", "kind: Repository\n"],
  ["wide", "NAME  READY"],
])("-o %s prints the repository alone, and its exit code is that of the wait", async (form, shown) => {
  const { client } = writing({ ready: "False" });
  const argv = ["set", "team", "--branch", "next", "--wait", "-o", form];
  const { code, stdout, stderr } = await testCli(argv, { client });
  expect(code).toBe(1);
  expect(stdout).toContain(shown);
  expect(stdout).not.toContain("changed");
  expect(stderr).toContain("GitOperationFailed");
});

const lacking: Record<string, [string[], string | undefined]> = {
  "a secret for webhooks that is not there": [
    ["--webhook-secret", "nothere"],
    "secret default/nothere is not there; until then no webhook is let in.",
  ],
  "a secret for webhooks without a token": [
    ["--webhook-secret", "git"],
    "secret default/git has not the keys for it; until then no webhook is let in.",
  ],
  "a credential that is not there": [
    ["--secret", "nothere"],
    "secret default/nothere is not there; until then the repository is not fetched.",
  ],
  "secrets that are there": [["--webhook-secret", "hook", "--secret", "git"], undefined],
  "defaults instead of secrets": [["--webhook-secret", "", "--secret", ""], undefined],
};
it.each(Object.entries(lacking))(
  "set and create do as told with %s, and warn of what is missing",
  async (_, [flags, told]) => {
    const secret_ref = { name: flags[flags.indexOf("--secret") + 1]! };
    const webhook_secret_ref = { name: flags[flags.indexOf("--webhook-secret") + 1]! };
    const written = { ...repositoryItem("team"), secret_ref, webhook_secret_ref } as never;
    const secrets = [
      { namespace: "default", name: "hook", keys: ["token"] },
      { namespace: "default", name: "git", keys: ["password", "username"] },
    ];
    const client: Partial<SlessClient> = {
      ...writing().client,
      create: async () => written,
      patch: async () => written,
      listSecrets: async () => secrets,
    };
    for (const line of [
      ["set", "team"],
      ["create", "repository", "team", "--url", URL],
    ]) {
      const { code, stderr } = await testCli([...line, ...flags], { client });
      expect(code).toBe(0);
      if (told === undefined) expect(stderr).toBe("");
      else expect(stderr).toMatch(`warning: ${told}\n  Write it with \`sless secret set `);
    }
  },
);

it("whoever may not list secrets writes a repository without a warning", async () => {
  const listSecrets = async () => Promise.reject(new ServerError(403, { error: "no", code: "access_denied" }));
  const client = { ...writing().client, listSecrets };
  const { code, stderr } = await testCli(["set", "team", "--webhook-secret", "hook"], { client });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
