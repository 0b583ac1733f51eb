import { expect, it } from "vitest";
import type { GarbageReport } from "../../src/garbage/index.ts";
import { serverFixture } from "./server-fixture.ts";

const REPORT: GarbageReport = {
  dry_run: true,
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 5,
  removed: { count: 0, bytes: 0 },
  waiting: { count: 0, bytes: 0 },
  kept: 3,
  items: [],
  failures: [],
};

async function collecting() {
  const asked: boolean[] = [];
  const fixture = await serverFixture({
    collectGarbage: async ({ dryRun }) => {
      asked.push(dryRun);
      return REPORT;
    },
  });
  const post = (query: string) => fetch(`${fixture.url}/v1/gc${query}`, { method: "POST" });
  return { asked, post };
}

it("garbage is collected when it is asked for, or only looked at", async () => {
  const { asked, post } = await collecting();
  expect(await (await post("?dry_run=true")).json()).toEqual(REPORT);
  await post("?dry_run=false");
  await post("");
  expect(asked).toEqual([true, false, false]);
});

it.each(["?dry_run=perhaps", "?dryrun=true", "?dry_run="])(
  "POST /v1/gc%s is refused, and collects nothing",
  async (query) => {
    const { asked, post } = await collecting();
    expect((await post(query)).status).toBe(400);
    expect(asked).toEqual([]);
  },
);

it("a server that has no garbage says so", async () => {
  const { url } = await serverFixture();
  const answer = await fetch(`${url}/v1/gc`, { method: "POST" });
  expect(answer.status).toBe(404);
  expect((await fetch(`${url}/v1/gc`)).status).toBe(405);
});
