import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type LeaderElection, type LeaseRecord, startLeaderElection, systemClock } from "../../src/controller/index.ts";
import { API_RESOURCES, apiPath, kubernetesLease } from "../../src/kubernetes/index.ts";
import { clusterClient } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { describeOnCluster, describeOnOwnControlPlane, type TestCluster } from "../support/kubernetes/index.ts";
import { watchChild } from "../support/watched-child.ts";

const NAME = "sless-controller";
/** A busy machine must not miss them. */
const TIMES = { leaseMs: 8_000, renewDeadlineMs: 7_000, retryMs: 300 };
const RECORD: LeaseRecord = {
  holder: "a",
  durationSec: 15,
  acquireTime: "2026-01-01T00:00:00.123Z",
  renewTime: "2026-01-01T00:00:01.456Z",
  transitions: 1,
};
const { signal } = new AbortController();

interface Candidate {
  readonly election: LeaderElection;
  readonly story: string[];
}

function candidate(cluster: TestCluster, namespace: string, identity: string): Candidate {
  const story: string[] = [];
  const election = startLeaderElection({
    identity,
    store: kubernetesLease(clusterClient(cluster), { namespace, name: NAME }),
    clock: systemClock,
    times: TIMES,
    async onStartedLeading(leading) {
      story.push("start");
      await new Promise((resolve) => leading.addEventListener("abort", resolve));
    },
    onStoppedLeading: (why) => void story.push(why),
  });
  onTestFinished(() => election.stop());
  return { election, story };
}

function untilLeads({ election }: Candidate): Promise<boolean> {
  return eventually("it leads", election.isLeader, Boolean);
}

async function candidateProcess(cluster: TestCluster, namespace: string): Promise<ChildProcess> {
  const script = join(import.meta.dirname, "lease-candidate.ts");
  const child = spawn(process.execPath, [script, cluster.kubeconfig, namespace, "other process"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await watchChild(child).says("leading\n");
  return child;
}

describeOnCluster("a Lease on a real API server", (cluster) => {
  it("is made, read as it was written, and swapped only from the version that was read", async () => {
    const namespace = await cluster().createNamespace();
    const client = clusterClient(cluster());
    const lease = kubernetesLease(client, { namespace, name: NAME });
    expect(await lease.read(signal)).toBeUndefined();
    const version = await lease.write(RECORD, undefined, signal);
    expect(await lease.read(signal)).toEqual({ record: RECORD, version });
    expect(await lease.write(RECORD, undefined, signal)).toBeUndefined();
    const released = { ...RECORD, holder: "", durationSec: 1 };
    const next = await lease.write(released, version, signal);
    expect(await lease.read(signal)).toEqual({ record: released, version: next });
    expect(await lease.write(RECORD, version, signal)).toBeUndefined();
    await client.request({ method: "DELETE", path: apiPath(API_RESOURCES.Lease, { namespace, name: NAME }) });
    expect(await lease.write(RECORD, next, signal)).toBeUndefined();
  });

  it("a leader whose process is killed is followed, one that ends in order at once", async () => {
    const namespace = await cluster().createNamespace();
    const killed = await candidateProcess(cluster(), namespace);
    const a = candidate(cluster(), namespace, "a");
    await eventually("it sees who leads", a.election.leader, (leader) => leader === "other process");
    killed.kill("SIGKILL");
    await untilLeads(a);
    const b = candidate(cluster(), namespace, "b");
    await a.election.stop();
    await untilLeads(b);
    expect(a.story).toEqual(["start", "stopped"]);
  });
});

describeOnOwnControlPlane("a leader whose API server goes", { controllers: false, crds: false }, (controlPlane) => {
  it("stops, and one leads again when it is back", async () => {
    const namespace = await controlPlane().createNamespace();
    const both = [candidate(controlPlane(), namespace, "a"), candidate(controlPlane(), namespace, "b")];
    const leaders = () => both.filter(({ election }) => election.isLeader());
    await eventually("one leads", leaders, ({ length }) => length === 1);
    await controlPlane().stopApiServer();
    // What it led ends a moment after it no longer leads.
    const stories = () => both.flatMap(({ story }) => story);
    await eventually("it stops", stories, ({ length }) => length > 1);
    expect(stories()).toEqual(["start", "lost"]);
    expect(leaders()).toEqual([]);
    await controlPlane().startApiServer();
    await eventually("one leads again", leaders, ({ length }) => length === 1);
  });
});
