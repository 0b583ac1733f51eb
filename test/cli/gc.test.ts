import { expect, it } from "vitest";
import type { GarbageReport, SlessClient } from "../../src/server/client.ts";
import { testCli } from "../support/test-cli.ts";

const why = "nothing refers to it since 2026-01-01T00:00:00.000Z";
const report: GarbageReport = {
  dry_run: true,
  started_at: "2026-01-02T00:00:00.000Z",
  duration_ms: 12,
  removed: { count: 2, bytes: 2_097_664 },
  waiting: { count: 1_200, bytes: 5 },
  kept: 7,
  items: [
    { sort: "source", name: "functions/demo/a/1.zip", action: "remove", why, bytes: 512, goes_at: undefined },
    { sort: "image", name: "sless-demo_a:1@sha256:2", action: "remove", why, bytes: 2_097_152, goes_at: undefined },
    {
      sort: "context",
      name: "contexts/demo/a/1.tar.gz",
      action: "wait",
      why,
      bytes: undefined,
      goes_at: "2026-01-03T00:00:00.000Z",
    },
  ],
  failures: [],
};

function serverWith(fields: Partial<GarbageReport> = {}) {
  const asked: boolean[] = [];
  const client: Partial<SlessClient> = {
    async collectGarbage({ dryRun }) {
      asked.push(dryRun);
      return { ...report, dry_run: dryRun, ...fields };
    },
  };
  return { client, asked };
}

it("gc --dry-run shows what would go, when, and how much it is", async () => {
  const { client, asked } = serverWith();
  const { code, stdout } = await testCli(["gc", "--dry-run"], { client });
  expect([code, asked]).toEqual([1, [true]]);
  expect(stdout).toMatchInlineSnapshot(`
    "SORT     NAME                      SIZE     GOES
    source   functions/demo/a/1.zip    512 B    now
    image    sless-demo_a:1@sha256:2   2.0 MiB  now
    context  contexts/demo/a/1.tar.gz  -        2026-01-03T00:00:00.000Z
    and 1199 more
    2 would go (2.0 MiB), 1200 in the grace time (5 B), 7 in use.
    "
  `);
});

it("gc collects, and shows why with -o wide", async () => {
  const { client, asked } = serverWith();
  const { code, stdout } = await testCli(["gc", "-o", "wide"], { client });
  expect([code, asked]).toEqual([0, [false]]);
  expect(stdout).toContain(`512 B    gone                      ${why}`);
  expect(stdout).toContain("2 removed (2.0 MiB)");
});

it("gc tells scripts", async () => {
  const { client } = serverWith();
  expect(JSON.parse((await testCli(["gc", "-o", "json"], { client })).stdout)).toMatchObject({ kept: 7 });
  const names = await testCli(["gc", "-o", "name"], { client });
  expect(names.stdout).toBe("source/functions/demo/a/1.zip\nimage/sless-demo_a:1@sha256:2\n");
});

it("gc fails when a place could not be looked at, and tells the rest", async () => {
  const { client } = serverWith({ failures: [{ where: "the registry r", error: "it is\naway" }] });
  const { code, stdout, stderr } = await testCli(["gc"], { client });
  expect([code, stderr]).toEqual([2, "the registry r: it is away\n"]);
  expect(stdout).toContain("2 removed");
});

it("with nothing to collect it says so, and the dry run ends with 0", async () => {
  const none = { count: 0, bytes: 0 };
  const { client } = serverWith({ removed: none, waiting: none, items: [] });
  const { code, stdout } = await testCli(["gc", "--dry-run"], { client });
  expect([code, stdout]).toEqual([0, "0 would go (0 B), 0 in the grace time (0 B), 7 in use.\n"]);
});
