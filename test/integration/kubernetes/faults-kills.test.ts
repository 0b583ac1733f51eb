import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFailed } from "vitest";
import { startClusterProcess } from "../../support/cluster-process.ts";
import { eventually } from "../../support/eventually.ts";
import { finishedBuilds } from "../../support/folder-builder.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { type SeededRandom, seededRandom } from "../../support/seeded-random.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { GROUP, jobFiles, lives, many, storedTexts, tenantOf, type Wanted, wantedTexts } from "./fault-world.ts";

const KILLS = 10;
/** A life leads about as soon as it has started. */
const LEASE_TIMES = { leaseMs: 1_000, renewDeadlineMs: 700, retryMs: 100 };
/** From a push to death: a process comes to its end of it in about so long. */
const DELAY_MAX_MS = 1_600;
const NAMES = Object.keys(many(8, "", "a"));

/** Random pushes that add, change, configure and delete functions. */
function changesOf(random: SeededRandom) {
  const wanted = new Map<string, Wanted>();
  let texts = 0;
  const next = (before: Wanted | undefined): Wanted | null => {
    const how = before ? random.pick(["code", "code", "memory", "delete"]) : "code";
    if (how === "delete") return null;
    const { text, memoryMB = 128 } = before ?? { text: "" };
    if (how === "memory") return { text, memoryMB: memoryMB + 1 };
    texts += 1;
    return { text: `text ${texts}`, memoryMB };
  };
  return (): Record<string, Wanted | null> => {
    const names = new Set([random.pick(NAMES), random.pick(NAMES), random.pick(NAMES)]);
    const changes = Object.fromEntries([...names].map((name) => [name, next(wanted.get(name))]));
    for (const [name, change] of Object.entries(changes)) {
      if (change) wanted.set(name, change);
      else wanted.delete(name);
    }
    return changes;
  };
}

describeOnOwnControlPlane("a controller on a cluster", { audit: true }, (controlPlane) => {
  it("killed at any moment of apply, build and prune, it converges after a restart: nothing lost, nothing made twice", async () => {
    const random = seededRandom("kills on a cluster");
    const told: string[] = [];
    onTestFailed(() => console.info(`SLESS_SEED=${random.seed}\n${told.join("\n")}`));
    const data = await temporaryFolder();
    const namespace = await controlPlane().createNamespace("sless");
    const change = changesOf(random);
    const steady = many(3, "steady", "steady");
    const tenant = await tenantOf(
      controlPlane(),
      { ...steady, a0: { text: "first" } },
      { files: jobFiles("once"), spec: { deletionGuard: { maxDeletions: 100, maxPercent: 100 } } },
    );
    const start = (life: number) =>
      startClusterProcess(controlPlane(), {
        name: `life-${life}`,
        namespace,
        data,
        buildMs: 150,
        // The last one has to keep what it leads, on a busy machine too.
        ...(life < KILLS && { leaseTimes: LEASE_TIMES }),
      });
    const jobs = async () =>
      (await controlPlane().request("GET", `${GROUP}/namespaces/${tenant.namespace}/functionjobs`)).body.items;

    let first: Record<string, string> = {};
    for (let life = 0; life < KILLS; life += 1) {
      const process = start(life);
      const isEarly = life > 0 && random.below(3) === 0;
      if (!isEarly) await process.leads();
      const changes = life === 0 ? {} : change();
      if (life === 0) first = lives((await tenant.converged()).deployments);
      await tenant.push(changes);
      const delayMs = random.below(isEarly ? 2 * DELAY_MAX_MS : DELAY_MAX_MS);
      told.push(
        `${life}: ${JSON.stringify(changes)}, ${isEarly ? "while it starts" : "when it leads"}, killed after ${delayMs} ms`,
      );
      await setTimeout(delayMs); // the moment of death, which is the test's input
      await process.kill("SIGKILL");
    }

    start(KILLS);
    const standing = await tenant.converged();
    expect(await storedTexts(data, standing)).toEqual(wantedTexts(tenant));
    const last = lives(standing.deployments);
    for (const name of Object.keys(steady)) expect(`${name} ${last[name]}`).toBe(`${name} ${first[name]}`);
    const builds = await finishedBuilds(`${data}/images`);
    // What stands there, and the job.
    expect(builds.length).toBeGreaterThan(tenant.wanted.size);
    expect(builds.filter((build, n) => builds.indexOf(build) !== n)).toEqual([]);
    const [job] = await eventually("the job has ended", jobs, ([one]) => one?.status?.phase === "Succeeded");
    expect(job.status.lastRunID).toBe(1);
    const runs = (await controlPlane().auditLog()).filter(
      ({ verb, resource, status, userAgent }) =>
        verb === "create" && resource === "jobs" && status === 201 && userAgent.startsWith("sless/"),
    );
    expect(runs).toHaveLength(1);
    const secrets = async () =>
      (await controlPlane().request("GET", `/api/v1/namespaces/sless-fn-${tenant.namespace}/secrets`)).body.items;
    await eventually("no secret is left", secrets, ({ length }) => length === 0);
  });
});
