import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ClusterProcessOptions, leaderOf, startClusterProcess } from "../../support/cluster-process.ts";
import { eventually } from "../../support/eventually.ts";
import { finishedBuilds } from "../../support/folder-builder.ts";
import { document } from "../../support/function-files.ts";
import { holdableConnections } from "../../support/held-connections.ts";
import { bodyOf, httpServer } from "../../support/http-server.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { GROUP, jobFiles, lives, many, type Tenant, tenantOf } from "./fault-world.ts";

const MINUTE_MS = 60_000;
const SKEW_MS = 5 * MINUTE_MS;
/** For what comes with a minute of real time. */
const WITHIN_MS = 5 * MINUTE_MS;
/** At which second of its minute a process begins, so that a tick comes soon after. */
const BEGIN_SEC = 49;

interface SeenCall {
  readonly id: string;
  readonly trigger: string;
  readonly tick: string;
}

/** A gateway that writes down the calls of ticks, and answers once the test lets it. */
async function recordingGateway() {
  const calls: SeenCall[] = [];
  let hold: Promise<void> | undefined;
  const { origin } = await httpServer(async (request, response) => {
    await bodyOf(request);
    const { "x-request-id": id, "x-cron-trigger": trigger, "x-cron-time": tick } = request.headers;
    calls.push({ id: String(id), trigger: String(trigger), tick: String(tick) });
    await hold;
    response.setHeader("content-type", "application/json");
    response.end("{}");
  });
  const tokenFile = join(await temporaryFolder(), "token");
  await writeFile(tokenFile, "token");
  return {
    calls,
    env: { GATEWAY_URL: origin, GATEWAY_TOKEN_FILE: tokenFile },
    holdAnswers() {
      hold = new Promise(() => undefined);
    },
    answer() {
      hold = undefined;
    },
    ofTrigger: (name: string) => calls.filter(({ trigger }) => trigger === name),
  };
}

const cronFiles = (name: string, functionRef: string) => ({
  [`triggers/${name}/trigger.yaml`]: document("Trigger", name, { type: "cron", functionRef, schedule: "* * * * *" }),
});

/** How far a clock is ahead that shows `at` now. */
const showing = (at: number) => at - Date.now();

/** A time in the last minute but one, some seconds before the next begins: objects seem new to such a clock. */
function shortlyBeforeATick(): number {
  const now = Date.now();
  return now - (now % MINUTE_MS) - 2 * MINUTE_MS + BEGIN_SEC * 1_000;
}

describeOnOwnControlPlane("two controllers on a cluster", { audit: true }, (controlPlane) => {
  const jobRuns = async (namespace: string) =>
    (await controlPlane().auditLog()).filter(
      ({ verb, resource, status, namespace: of }) =>
        verb === "create" && resource === "jobs" && status === 201 && of === `sless-fn-${namespace}`,
    );
  const job = async ({ namespace }: Tenant) =>
    (await controlPlane().request("GET", `${GROUP}/namespaces/${namespace}/functionjobs/once`)).body;

  it("clocks that differ by 5 minutes and leaders that are killed fire no tick and run no job twice", async () => {
    const data = await temporaryFolder();
    const namespace = await controlPlane().createNamespace("sless");
    const gateway = await recordingGateway();
    const start = (options: Pick<ClusterProcessOptions, "name" | "clockMs">) =>
      startClusterProcess(controlPlane(), { ...options, namespace, data, env: gateway.env });
    const behind = showing(shortlyBeforeATick());
    const first = start({ name: "first", clockMs: behind });
    await first.leads();
    const second = start({ name: "second", clockMs: behind + SKEW_MS });
    gateway.holdAnswers();
    const tenant = await tenantOf(controlPlane(), many(3), {
      files: { ...jobFiles("once"), ...cronFiles("tick", "f0") },
    });
    const before = await tenant.converged();
    await second.started();

    // Killed while a call is under way: the tick is claimed and delivered.
    await eventually(
      "a tick is called",
      () => gateway.calls,
      (calls) => calls.length > 0,
      WITHIN_MS,
    );
    expect(await leaderOf(controlPlane(), namespace), "its clock is no reason to take over").toBe("first");
    await first.kill("SIGKILL");
    const ofFirst = gateway.ofTrigger("tick");
    const lastOfFirst = Date.parse(ofFirst.at(-1)!.tick);
    gateway.answer();
    await second.leads();
    // By its clock five ticks are due: the last of them is made up for, and none that was called.
    const late = await eventually(
      "the late tick",
      () => gateway.ofTrigger("tick"),
      (calls) => calls.length > ofFirst.length,
    );
    expect(Date.parse(late[ofFirst.length]!.tick) - lastOfFirst).toBeGreaterThanOrEqual(SKEW_MS);
    expect(new Set(late.map(({ id }) => id)).size).toBe(late.length);
    await tenant.push({ f1: { text: "of the second" } });
    const during = lives((await tenant.converged()).deployments);
    expect(changed(lives(before.deployments), during)).toEqual(["f1"]);

    // The next one's clock is behind the last tick again.
    const third = start({ name: "third", clockMs: showing(lastOfFirst + BEGIN_SEC * 1_000) });
    await third.started();
    await second.kill("SIGKILL");
    await third.leads();
    // The second may have lived into a minute more.
    const untilThen = gateway.ofTrigger("tick");
    await tenant.push({ f2: { text: "of the third" } }, cronFiles("canary", "f1"));
    await eventually(
      "a minute passes there",
      () => gateway.ofTrigger("canary"),
      (calls) => calls.length > 0,
      WITHIN_MS,
    );
    expect(gateway.ofTrigger("tick")).toEqual(untilThen);
    expect(new Set(gateway.calls.map(({ id }) => id)).size).toBe(gateway.calls.length);
    const after = lives((await tenant.converged()).deployments);
    expect(changed(during, after)).toEqual(["f2"]);
    expect((await job(tenant)).status).toMatchObject({ phase: "Succeeded", lastRunID: 1 });
    expect(await jobRuns(tenant.namespace)).toHaveLength(1);
    const builds = await finishedBuilds(`${data}/images`);
    expect(new Set(builds).size).toBe(builds.length);
  });

  it("a leader that loses the network stops before another leads, and does nothing of its own when it is back", async () => {
    const data = await temporaryFolder();
    const namespace = await controlPlane().createNamespace("sless");
    const leaseTimes = { leaseMs: 7_000, renewDeadlineMs: 2_000, retryMs: 500 };
    const way = await holdableConnections(Number(new URL(controlPlane().url).port));
    const kubeconfig = join(await temporaryFolder(), "kubeconfig");
    const direct = await readFile(controlPlane().kubeconfig, "utf8");
    await writeFile(kubeconfig, direct.replaceAll(controlPlane().url, `https://127.0.0.1:${way.port}`));
    const cut = startClusterProcess(controlPlane(), { name: "cut", namespace, data, leaseTimes, kubeconfig });
    await cut.leads();
    const other = startClusterProcess(controlPlane(), { name: "other", namespace, data, leaseTimes });
    const tenant = await tenantOf(controlPlane(), many(4));
    const before = lives((await tenant.converged()).deployments);
    await other.started();

    way.hold();
    await tenant.push({ f0: { text: "while it is cut off" } });
    await eventually(
      "another leads",
      () => leaderOf(controlPlane(), namespace),
      (leader) => leader === "other",
    );
    await eventually("it says so", cut.output, (text) => text.includes("does not lead any more"));
    const during = lives((await tenant.converged()).deployments);
    expect(changed(before, during)).toEqual(["f0"]);

    way.release();
    await tenant.push({ f1: { text: "when it is back" } });
    const after = lives((await tenant.converged()).deployments);
    expect(changed(during, after)).toEqual(["f1"]);
    await other.kill("SIGTERM");
    await cut.leads();
    await tenant.push({ f2: { text: "of the first again" } });
    expect(changed(after, lives((await tenant.converged()).deployments))).toEqual(["f2"]);
    const builds = await finishedBuilds(`${data}/images`);
    expect(new Set(builds).size).toBe(builds.length);
  });
});

/** Names whose Deployment is another one, or was written. */
function changed(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): string[] {
  return Object.keys(after).filter((name) => after[name] !== before[name]);
}
