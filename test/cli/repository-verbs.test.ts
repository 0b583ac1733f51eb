import { expect, it } from "vitest";
import type { RepositoryStatus } from "../../src/apis/index.ts";
import type { HeldDeletion, SlessClient } from "../../src/server/client.ts";
import { testCli } from "../support/test-cli.ts";

const held: HeldDeletion[] = [
  { kind: "Function", name: "a", uid: "1" },
  { kind: "Trigger", name: "a-http", uid: "2" },
];

function holding(deletions: readonly HeldDeletion[]) {
  const approvals: unknown[] = [];
  const client = {
    plan: async () => ({ held: deletions }),
    approve: async (_name: string, { deletions: asked }: { deletions: HeldDeletion[] }) => {
      approvals.push(asked);
      return { approved: asked };
    },
  } as unknown as Partial<SlessClient>;
  return { client, approvals };
}

it("approve lists what is held, asks, and approves exactly that", async () => {
  const { client, approvals } = holding(held);
  const { code, stdout } = await testCli(["approve", "example"], {
    client,
    terminal: 80,
    stdin: "y\n",
    env: { NO_COLOR: "1" },
  });
  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "2 deletions of example wait for an approval:
      - Function/default/a
      - Trigger/default/a-http
    Delete all of them? [y/N] Approved 2 of 2 deletions; they go with the next sync.
    "
  `);
  expect(approvals).toEqual([held]);
});

it.each(["n\n", "\n", "", "yess\n"])("approve answered with %j approves nothing", async (stdin) => {
  const { client, approvals } = holding(held);
  const { code, stdout } = await testCli(["approve", "example"], { client, terminal: 80, stdin });
  expect(code).toBe(1);
  expect(stdout).toContain("Nothing approved.");
  expect(approvals).toEqual([]);
});

it("approve --yes does not ask", async () => {
  const { client, approvals } = holding(held);
  expect((await testCli(["approve", "example", "--yes"], { client })).code).toBe(0);
  expect(approvals).toEqual([held]);
});

it("approve where nobody can be asked approves nothing and names --yes", async () => {
  const { client, approvals } = holding(held);
  const { code, stderr } = await testCli(["approve", "example"], { client, stdin: "y\n" });
  expect(code).toBe(2);
  expect(stderr).toContain("--yes");
  expect(approvals).toEqual([]);
});

it("approve with nothing held says so", async () => {
  const { code, stdout } = await testCli(["approve", "example"], { client: holding([]).client });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Nothing of example waits for an approval.\n" });
});

/** A server whose repository has handled the request at the second look. */
function syncing(status: RepositoryStatus, handled = "2024-01-01T00:00:01.000Z") {
  let looks = 0;
  return {
    reconcile: async () => ({ requested_at: "2024-01-01T00:00:01.000Z" }),
    getObject: async () => {
      looks += 1;
      const seen = looks < 2 ? {} : { ...status, lastHandledReconcileAt: handled };
      return { kind: "Repository", metadata: { name: "example" }, spec: {}, status: seen } as never;
    },
  };
}
const ready = (status: "True" | "False", reason: string, message: string) => ({
  conditions: [{ type: "Ready", status, reason, message, lastTransitionTime: "2024-01-01T00:00:00Z" }],
  lastAttemptedRevision: `main@sha1:${"c".repeat(40)}`,
});

it("reconcile waits for the sync and exits with 0 when the repository is ready", async () => {
  const { code, stdout } = await testCli(["reconcile", "repository", "example"], {
    client: syncing(ready("True", "Applied", "")),
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "example  main@sha1:ccccccc  ready\n" });
});

it("reconcile shows reason and faults and exits with 1 when the repository is not ready", async () => {
  const status = {
    ...ready("False", "FaultyManifests", "1 fault."),
    diagnostics: { count: 1, items: [{ code: "yaml_syntax", file: "a.yaml", line: 3, column: 7, message: "No." }] },
  };
  const { code, stdout } = await testCli(["reconcile", "repo/example"], { client: syncing(status) });
  expect(code).toBe(1);
  expect(stdout).toMatchInlineSnapshot(`
    "example  main@sha1:ccccccc  FaultyManifests
      1 fault.
      a.yaml:3:7 yaml_syntax: No.
    "
  `);
});

it("a later request of somebody else covers ours", async () => {
  const client = syncing(ready("True", "Applied", ""), "2024-01-01T00:00:09.000Z");
  expect((await testCli(["reconcile", "repo", "example"], { client })).code).toBe(0);
});

it("reconcile gives up after --timeout and exits with 1", async () => {
  const client = { ...syncing({}), getObject: async () => ({ kind: "Repository", status: {} }) as never };
  const { code, stderr } = await testCli(["reconcile", "repo", "example", "--timeout", "1s"], { client });
  expect(code).toBe(1);
  expect(stderr).toContain("was not synced within 1s");
});

it.each([["function", "hello"], ["repository"], ["repo", "example", "--timeout", "soon"]])(
  "reconcile %s %s is refused",
  async (...argv) => {
    const client = { list: async () => [] };
    const { code, stderr } = await testCli(["reconcile", ...argv.filter((word) => word !== undefined)], { client });
    expect(code).toBe(2);
    expect(stderr).toContain("sless reconcile --help");
  },
);
