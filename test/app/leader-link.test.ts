import { expect, it } from "vitest";
import { ownLeader } from "../../src/app/cluster/leader-link.ts";
import { SlessError } from "../../src/errors/index.ts";

const builder = { async *logs() {} };
const sync = { placeOf: () => undefined };

function collecting(error: Error) {
  const leading = new AbortController();
  const collect = () => Promise.reject(error);
  return { leader: ownLeader({ sync, garbage: { collect }, signal: leading.signal }, builder), leading };
}

it("a collection that fails tells why", async () => {
  const error = new SlessError("garbage_of_others", { others: "another" });
  await expect(collecting(error).leader.collectGarbage({ dryRun: false })).rejects.toBe(error);
});

it("a collection that ends with the lead says that another goes on, and to try again", async () => {
  const { leader, leading } = collecting(new SlessError("internal", { cause: "it is shutting down" }));
  leading.abort();
  await expect(leader.collectGarbage({ dryRun: false })).rejects.toMatchObject({
    code: "controller_unreachable",
    status: 503,
    details: { cause: expect.stringContaining("ceased to lead") },
  });
});
