import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
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

it("nothing is collected by looking", async () => {
  const { url } = await serverFixture();
  expect((await fetch(`${url}/v1/gc`)).status).toBe(405);
});

it("while nobody can collect, the answer says so and what to do", async () => {
  const { json } = await serverFixture({
    async collectGarbage() {
      throw new SlessError("controller_unreachable", { cause: "none leads now" });
    },
  });
  expect(await json("/v1/gc", { method: "POST" })).toMatchObject({
    status: 503,
    body: { code: "controller_unreachable", error: expect.stringContaining("Try again in a moment") },
  });
});
